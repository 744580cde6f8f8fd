"""Model: an encoder, a circuit and a head, the thing that one saves, loads and runs.

In: raw tables. Out: labels, probabilities or values; and the `.gw` file that holds all of it.
Invariant: a model is an immutable value whose parts fit together; a model that was loaded equals the saved one, and
gives the same bytes.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gatewise.bits import Planes
from gatewise.circuit import Circuit
from gatewise.encode import Encoder
from gatewise.heads import Affine, Classes, Head
from gatewise.machine import check_threads
from gatewise.notebook import make_table
from gatewise.passes import drop_unread_inputs, simplify
from gatewise.run.engine import Engine
from gatewise.wiring import CompactCircuit, ConvolutionalCircuit, SeededCircuit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gatewise.report import Report

PROOF_SECONDS = 120.0
"""How long `Model.build` may take for a proof."""


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

    Attributes
    ----------
    origin : (Encoder, SeededCircuit or ConvolutionalCircuit) or None
        What `build` made the model of, if its circuit was such a one, without what no output depends on if its wires
        were learned. It does not count when models are compared.

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
    origin: tuple[Encoder, CompactCircuit] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        _check_parts(self.encoder, self.circuit, self.head, Circuit)
        object.__setattr__(self, "threads", check_threads(self.threads))

    @classmethod
    def build(
        cls,
        encoder: Encoder,
        circuit: Circuit | CompactCircuit,
        head: Head,
        *,
        threads: int = 1,
        prove: bool = False,
    ) -> "Model":
        """The smallest equivalent model: the circuit simplified, and no bits encoded that it does not read.

        Parameters
        ----------
        encoder : Encoder
            Its bits are the inputs of `circuit`.
        circuit : Circuit, SeededCircuit or ConvolutionalCircuit
            One of the last two, see `gatewise.nn.discretize_seeded` and `discretize_shared`, is remembered as the
            `origin` of the model, and its file holds that form if it is the smaller one. Each load then expands and
            simplifies it again.
        head : Classes, Affine or Logit
        threads : int
        prove : bool
            Whether a solver is to prove that no output changed, see `gatewise.verify`; RuntimeError if it does not
            within two minutes.

        Examples
        --------
        >>> from gatewise import Encoder, Model, SeededCircuit
        >>> seeded = SeededCircuit(784, gates=[[6, 1] * 4000] * 2, n_groups=10, seed=0)
        >>> head = Classes(tuple(range(10)), tau=10.0, group_size=800)
        >>> encoder = Encoder.images((28, 28), 1)
        >>> model, other = Model.build(encoder, seeded, head), Model.build(encoder, seeded.expand(), head)
        >>> model == other, len(model.to_bytes()) < len(other.to_bytes()) / 2
        (True, True)
        """
        _check_parts(encoder, circuit, head, Circuit, SeededCircuit, ConvolutionalCircuit)
        circuit = circuit if isinstance(circuit, Circuit) else circuit.clear_unread()
        written_out = circuit if isinstance(circuit, Circuit) else circuit.expand()
        simplified = simplify(written_out)
        if prove:
            # Imported inside the function, as below, because gatewise.verify imports this module.
            from gatewise.verify.equivalence import prove_equal

            prove_equal(written_out, simplified, PROOF_SECONDS)
        small, bit_idx = drop_unread_inputs(simplified)
        model = cls(encoder.take(bit_idx), small, head, threads=threads)
        if not isinstance(circuit, Circuit):
            object.__setattr__(model, "origin", (encoder, circuit))
        return model

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
        """Probability of each class; raises TypeError for the model of a regression.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)

        Returns
        -------
        float64 array, shape (n_rows, n_classes)
            Columns are in the order of the head's labels, rows sum to 1.
        """
        if not isinstance(self.head, Classes):
            raise TypeError(f"head must be Classes to have probabilities, got {type(self.head).__name__}; use predict")
        return self.head.proba(self._run(self._engine.counts, X))

    def scores(self, X: Any) -> NDArray[np.float64]:
        """What the head makes of the counts: count / tau of each class, or the value of each output.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns)

        Returns
        -------
        float64 array, shape (n_rows, n_groups)
        """
        return self.head.scores(self._run(self._engine.counts, X))

    def describe_bits(self) -> list[str]:
        """What each input of the circuit says about a row, in words, such as "age > 37.5"."""
        return self.encoder.describe_bits()

    def info(self) -> dict[str, Any]:
        """Sizes of the model: columns, bits, gates, levels, groups, bytes of its file; its head, and its labels.

        Returns
        -------
        dict
            ``classes`` is the list of labels, None for a regression; ``levels`` are the gates on the longest way.
        """
        return {
            "columns": len(self.encoder.table_names),
            "bits": self.encoder.n_bits,
            "gates": self.circuit.n_gates,
            "levels": self.circuit.n_levels,
            "groups": self.circuit.n_groups,
            "outputs": self.circuit.n_outputs,
            "bytes": len(self.to_bytes()),
            "head": type(self.head).__name__,
            "classes": list(self.head.labels) if isinstance(self.head, Classes) else None,
        }

    def report(
        self,
        X: Any = None,
        y: Any = None,
        *,
        title: str = "A model of gates",
        image: tuple[int, int] | None = None,
        history: Sequence[Mapping[str, Any]] = (),
        proofs: Sequence[Mapping[str, Any]] = (),
        commands: Sequence[str] = (),
    ) -> "Report":
        """Everything about the model as a page that people look at, with the model itself in it, live.

        Parameters
        ----------
        X : table, shape (n_rows, n_columns), optional
            Rows that the model is rated on, and that one can start from.
        y : array, shape (n_rows,), optional
            Their true answers: labels, or values.
        title : str
        image : (height, width), optional
            If rows are images of one channel; square ones of an encoder made by `Encoder.images` are recognized.
        history : sequence of dict
            Records of training, as `gatewise.train.History.to_json` gives them.
        proofs : sequence of dict
            What was proved, as `to_dict` of the answers of `gatewise.verify` gives it.
        commands : sequence of str
            That made the model, to be shown.

        Returns
        -------
        Report
            Its `save` writes an HTML file; notebooks show it.

        Examples
        --------
        >>> encoder = Encoder.fit([[17.0], [39.0]])
        >>> model = Model(encoder, Circuit(1, [], [], [], [2, 2], [0, 1, 2]), Classes(("no", "yes"), 1.0, 1))
        >>> model.report([[10.0], [50.0]], ["no", "no"]).quality.accuracy
        1.0
        """
        # Imported inside the function, because gatewise.report imports this module.
        from gatewise.report.collect import collect

        return collect(self, X, y=y, title=title, image=image, history=history, proofs=proofs, commands=commands)

    def plot_importance(self, X: Any, y: Any = None) -> "Figure":
        """How much the loss rises, by column, when its values are those of other rows; as a matplotlib figure.

        Notebooks show it, and ``savefig`` writes it. Without `y`, it is how much the scores change.

        Examples
        --------
        >>> encoder = Encoder.fit([[17.0, 1.0], [39.0, 2.0]])
        >>> model = Model(encoder, Circuit(2, [], [], [], [2, 2], [0, 1, 2]), Classes(("no", "yes"), 1.0, 1))
        >>> model.plot_importance([[10.0, 1.0], [50.0, 2.0]]).axes[0].get_title()
        'importance of columns'
        """
        from gatewise.report.figures import plot_importance

        return plot_importance(self.report(X, y))

    def plot_quality(self, X: Any, y: Any) -> "Figure":
        """Confusions and calibration of classes, or true and predicted values and residuals; a matplotlib figure.

        Examples
        --------
        >>> encoder = Encoder.fit([[17.0], [39.0]])
        >>> model = Model(encoder, Circuit(1, [], [], [], [2], [0, 1]), Affine((1.0,), (0.0,), group_size=1))
        >>> [axes.get_title() for axes in model.plot_quality([[10.0], [50.0]], [0, 1]).axes]
        ['root mean square error 0', 'residuals']
        """
        from gatewise.report.figures import plot_quality

        return plot_quality(self.report(X, y))

    def with_threads(self, threads: int) -> "Model":
        """The same model, run by that many threads."""
        other = Model(self.encoder, self.circuit, self.head, threads=threads)
        object.__setattr__(other, "origin", self.origin)
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, by convention one that ends in ``.gw``, all or nothing; see `gatewise.save`."""
        # Here and below, gatewise.store is imported inside the function, because it imports this module.
        from gatewise.store.files import replace_file

        replace_file(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Model":
        """Read a model; raises FileError if the file does not hold a valid one, OSError if it cannot be read."""
        with open(path, "rb") as file:
            return cls.from_bytes(file.read(), source=os.fspath(path))

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes; `docs/format.md` specifies it."""
        return self._bytes

    @classmethod
    def from_bytes(cls, data: bytes, *, source: str = "data") -> "Model":
        """Inverse of `to_bytes`; raises FileError, naming `source`, for anything that is not a valid model."""
        from gatewise.store.container import open_container
        from gatewise.store.model import restore_model

        return open_container(data, source, restore_model)

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

    def _repr_html_(self) -> str:
        """A table of what `info` says, which notebooks show."""
        info = self.info()
        classes = info.pop("classes")
        return make_table(
            "gatewise.Model", info if classes is None else info | {"classes": ", ".join(map(str, classes))}
        )

    def _run(self, call: Callable[[Planes], NDArray[np.int32]], X: Any) -> NDArray[np.int32]:
        """Encode and evaluate a piece of the table at a time, so that bits stay in cache."""
        encoder = self.encoder
        pieces = [call(planes) for planes in encoder.encode_chunks(X, encoder.chunk_rows, self._engine.pool)]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    @cached_property
    def _engine(self) -> Engine:
        return Engine(self.circuit, self.threads)

    @cached_property
    def _bytes(self) -> bytes:
        from gatewise.store import to_bytes

        return to_bytes(self)


def _check_parts(encoder: Encoder, circuit: Circuit | CompactCircuit, head: Head, *kinds: type) -> None:
    """Raise TypeError or ValueError unless an encoder, a circuit of one of these kinds, and a head fit together."""
    _check_type("encoder", encoder, Encoder)
    _check_type("circuit", circuit, *kinds)
    _check_type("head", head, Classes, Affine)
    if circuit.n_inputs != encoder.n_bits:
        raise ValueError(f"circuit must have {encoder.n_bits} inputs, as the encoder has bits, got {circuit.n_inputs}")
    if circuit.n_groups != head.n_groups:
        raise ValueError(f"circuit must have {head.n_groups} groups, as the head, got {circuit.n_groups}")
    last = circuit.dense if isinstance(circuit, ConvolutionalCircuit) else circuit
    if isinstance(last, SeededCircuit):
        sizes = np.array([len(last.gates[-1]) // last.n_groups])
    else:
        sizes = np.diff(last.group_ptr)
    if (sizes != head.group_size).any():
        raise ValueError(
            f"groups of the circuit must have {head.group_size} outputs, as the head says, got {sizes!r:.200}"
        )


def _check_type(name: str, value: object, *kinds: type) -> None:
    if not isinstance(value, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} must be of type {expected}, got {type(value).__name__}")


def _restore(data: bytes, threads: int) -> Model:
    return Model.from_bytes(data).with_threads(threads)
