"""Model: an encoder, a circuit and a head, the thing that one saves, loads and runs.

In: raw tables. Out: labels, probabilities or values; and the `.gw` file that holds all of it.
Invariant: a model is an immutable value whose parts fit together; equal models give equal bytes, and a model that was
loaded predicts exactly what the saved one does.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise import io
from gatewise._native import Pool
from gatewise.circuit import Circuit
from gatewise.container import Document, FileError, Tensors, check_names, open_container, write_container
from gatewise.encode import Encoder
from gatewise.encode.encoder import make_pool
from gatewise.files import replace_file
from gatewise.heads import Affine, Classes, Head, head_from_document
from gatewise.passes import drop_unread_inputs, optimize
from gatewise.run.bits import Planes
from gatewise.run.engine import Engine
from gatewise.seeded import SeededCircuit


@dataclass(frozen=True, eq=False)
class Model:
    """A trained circuit with everything that it needs to read raw rows and to answer in terms of the task.

    Parameters
    ----------
    encoder : Encoder
        Its bits are the inputs of the circuit.
    circuit : Circuit
        Its groups are those of the head, all of one size.
    head : Classes, Affine or Logit
    threads : int
        Threads that share large tables; answers do not depend on it, and files do not hold it.

    Examples
    --------
    >>> encoder = Encoder.fit([[17.0], [39.0], [50.0]])
    >>> circuit = Circuit(2, gate=[12], a=[3], b=[3], outputs=[4, 3], group_ptr=[0, 1, 2])
    >>> model = Model.build(encoder, circuit, Classes(("young", "old"), tau=1.0, group_size=1))
    >>> model.predict([[20.0], [60.0]]).tolist()
    ['young', 'old']
    >>> model.describe_bits()
    ['x0 > 44.5']
    """

    encoder: Encoder
    circuit: Circuit
    head: Head
    threads: int = field(default=1, kw_only=True)
    _pool: Pool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_type("encoder", self.encoder, Encoder)
        _check_type("circuit", self.circuit, Circuit)
        _check_type("head", self.head, Classes, Affine)
        if self.circuit.n_inputs != self.encoder.n_bits:
            n_bits = self.encoder.n_bits
            raise ValueError(f"circuit must have {n_bits} inputs, as the encoder has bits, got {self.circuit.n_inputs}")
        if self.circuit.n_groups != self.head.n_groups:
            raise ValueError(f"circuit must have {self.head.n_groups} groups, as the head, got {self.circuit.n_groups}")
        sizes = np.diff(self.circuit.group_ptr)
        if (sizes != self.head.group_size).any():
            raise ValueError(
                f"groups of the circuit must have {self.head.group_size} outputs, as the head says, got {sizes!r:.200}"
            )
        object.__setattr__(self, "_pool", make_pool(self.threads))

    @classmethod
    def build(cls, encoder: Encoder, circuit: Circuit, head: Head, *, threads: int = 1) -> "Model":
        """The smallest equivalent model: the circuit optimized, and no bits encoded that it does not read."""
        small, bit_idx = drop_unread_inputs(optimize(circuit))
        return cls(encoder.take(bit_idx), small, head, threads=threads)

    def predict(self, X: Any) -> NDArray[Any]:
        """Label, or value, of each row.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)
            What `Encoder.encode` takes.

        Returns
        -------
        array, shape (n_rows,), or (n_rows, n_groups) for a regression with several outputs
            Labels have their own dtype, values are float64.
        """
        if isinstance(self.head, Classes):
            return self.head.label_array.take(self._run(self._engine.classify, X))
        return self.head.predict(self._run(self._engine.counts, X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, shape (n_rows, n_classes), columns in the order of the head's labels."""
        if not isinstance(self.head, Classes):
            raise TypeError(f"head must be Classes to have probabilities, got {type(self.head).__name__}; use predict")
        return self.head.proba(self._run(self._engine.counts, X))

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Count / tau of each class, or the value of each output, shape (n_rows, n_groups)."""
        return self.head.scores(self._run(self._engine.counts, X))

    def describe_bits(self) -> list[str]:
        """What each input of the circuit says about a row, in words."""
        return self.encoder.describe_bits()

    def info(self) -> dict[str, Any]:
        """Sizes of the model: columns, bits, gates, levels, groups, bytes of its file; its head, and its labels."""
        return {
            "columns": self.encoder.n_columns,
            "bits": self.encoder.n_bits,
            "gates": self.circuit.n_gates,
            "levels": self.circuit.n_levels,
            "groups": self.circuit.n_groups,
            "outputs": self.circuit.n_outputs,
            "bytes": len(self.to_bytes()),
            "head": type(self.head).__name__,
            "classes": list(self.head.labels) if isinstance(self.head, Classes) else None,
        }

    def with_threads(self, threads: int) -> "Model":
        """The same model, run by that many threads."""
        return Model(self.encoder, self.circuit, self.head, threads=threads)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, by convention one that ends in ``.gw``, all or nothing."""
        replace_file(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Model":
        """Read a model; raises FileError if the file does not hold a valid one."""
        return cls.from_bytes(Path(path).read_bytes(), source=os.fspath(path))

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes."""
        return self._bytes

    @classmethod
    def from_bytes(cls, data: bytes, *, source: str = "data") -> "Model":
        """Inverse of `to_bytes`; raises FileError, naming `source`, for anything that is not a valid model."""
        return open_container(data, source, _decode_model)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return (self.encoder, self.circuit, self.head) == (other.encoder, other.circuit, other.head)

    def __hash__(self) -> int:
        return hash((self.encoder, self.circuit, self.head))

    def __reduce__(self) -> tuple[Callable[[bytes, int], "Model"], tuple[bytes, int]]:
        return _restore, (self.to_bytes(), self.threads)

    def __dask_tokenize__(self) -> tuple[str, bytes]:
        """What the model is, for Dask: equal models are sent to a worker once."""
        return "gatewise.Model", self.to_bytes()

    def __repr__(self) -> str:
        sizes = {name: value for name, value in self.info().items() if name in ("columns", "bits", "gates", "levels")}
        parts = [f"{name}={value}" for name, value in sizes.items()]
        return f"Model({', '.join(parts)}, head={type(self.head).__name__}, bytes={len(self.to_bytes())})"

    def _run(self, call: Callable[[Planes], NDArray[np.int32]], X: Any) -> NDArray[np.int32]:
        """Encode and evaluate a piece of the table at a time, so that bits stay in cache."""
        encoder = self.encoder
        pieces = [call(planes) for planes in encoder.encode_chunks(X, encoder.chunk_rows, self._pool)]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    @cached_property
    def _engine(self) -> Engine:
        return Engine(self.circuit, self.threads)

    @cached_property
    def _bytes(self) -> bytes:
        parts = {"encoder": self.encoder.to_document(), "circuit": io.encode_circuit(self.circuit)}
        tensors = {f"{part}.{name}": tensor for part, (found, _) in parts.items() for name, tensor in found.items()}
        documents = {part: document for part, (_, document) in parts.items()}
        return write_container(tensors, {"kind": "model", **documents, "head": self.head.to_document()})


def save(path: str | os.PathLike[str], content: Model | Circuit | SeededCircuit) -> None:
    """Write a model or a circuit to a file, all or nothing: on failure an older file of that name stays as it was.

    Parameters
    ----------
    path : path
        By convention it ends in ``.gw``.
    content : Model, Circuit or SeededCircuit
        Stored exactly as it is: build the model, or optimize the circuit, first.

    Examples
    --------
    >>> import tempfile
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/xor.gw", xor)
    ...     load(f"{folder}/xor.gw") == xor
    True
    """
    replace_file(path, content.to_bytes() if isinstance(content, Model) else io.to_bytes(content))


def load(path: str | os.PathLike[str]) -> Model | Circuit | SeededCircuit:
    """Read whatever a `.gw` file holds.

    Returns
    -------
    Model, Circuit or SeededCircuit
        Equal to what was saved.

    Raises
    ------
    FileError
        The content is not valid.
    OSError
        The file cannot be read.
    """
    return open_container(Path(path).read_bytes(), os.fspath(path), decode)


def decode(tensors: Tensors, document: Document) -> Model | Circuit | SeededCircuit:
    """The content of a container of any kind; raises ValueError if it is not valid."""
    if document.get("kind") == "model":
        return _decode_model(tensors, document)
    return io.decode_circuit(tensors, document)


def _decode_model(tensors: Tensors, document: Document) -> Model:
    if document.get("kind") != "model":
        raise FileError(f"kind must be model, got {document.get('kind')!r:.60}; gatewise.load reads circuits, too")
    check_names("document", document, {"kind", "encoder", "circuit", "head"})
    for part in ("encoder", "circuit"):
        if not isinstance(document[part], dict):
            raise ValueError(f"{part} must be a JSON object, got {document[part]!r:.60}")
    parts: dict[str, Tensors] = {"encoder": {}, "circuit": {}}
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        if part not in parts:
            raise ValueError(f"names of tensors must start with encoder. or circuit., got {name!r:.60}")
        parts[part][rest] = tensor
    encoder = Encoder.from_document(parts["encoder"], document["encoder"])
    circuit = io.decode_circuit(parts["circuit"], document["circuit"])
    if not isinstance(circuit, Circuit):
        raise ValueError("circuit of a model must be of kind circuit, got seeded")
    return Model(encoder, circuit, head_from_document(document["head"]))


def _check_type(name: str, value: object, *kinds: type) -> None:
    if not isinstance(value, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} must be of type {expected}, got {type(value).__name__}")


def _restore(data: bytes, threads: int) -> Model:
    return Model.from_bytes(data).with_threads(threads)
