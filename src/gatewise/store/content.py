"""Whole `.gw` files: models and circuits stored small, checksummed, safe to load from strangers.

In: a `Model` or a circuit of any kind. Out: bytes, and from bytes an equal object, or a `FileError`.
Invariant: what was loaded gives the same bytes again; a file of n bytes, however hostile, takes O(n) memory to load,
and a model with shared gates a bounded amount more.

What you pass is what is stored. A simplified `Circuit` is stored with its wiring, about 3.5 bytes per gate, and starts
fastest, because nothing is left to compute at load. A `SeededCircuit` takes half a byte per gate, and some bits per
operand if its wires were learned, but it has all gates of the network, and takes time to expand and simplify; so does a
`ConvolutionalCircuit`, which has every shared gate once. A `Model` is stored in the smaller of two forms if it was
built from one of these.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from gatewise.circuit import Circuit
from gatewise.model import Model
from gatewise.store.circuit import restore_circuit, store_circuit
from gatewise.store.container import Document, FileError, Tensors, open_container, write_container
from gatewise.store.convolution import restore_convolutional, store_convolutional
from gatewise.store.files import replace_file
from gatewise.store.model import restore_model, store_model
from gatewise.store.seeded import restore_seeded, store_seeded
from gatewise.wiring import ConvolutionalCircuit, SeededCircuit

Content: TypeAlias = Model | Circuit | SeededCircuit | ConvolutionalCircuit


def save(path: str | os.PathLike[str], content: Content) -> None:
    """Write a model or a circuit to a file, all or nothing: on failure an older file of that name stays as it was.

    Parameters
    ----------
    path : path
        By convention it ends in ``.gw``.
    content : Model, Circuit, SeededCircuit or ConvolutionalCircuit
        Stored exactly as it is: build the model, or simplify the circuit, first.

    Examples
    --------
    >>> import tempfile
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/xor.gw", xor)
    ...     load(f"{folder}/xor.gw") == xor
    True
    """
    replace_file(path, to_bytes(content))


def load(path: str | os.PathLike[str]) -> Content:
    """Read whatever a `.gw` file holds.

    Parameters
    ----------
    path : path

    Returns
    -------
    Model, Circuit, SeededCircuit or ConvolutionalCircuit
        Equal to what was saved.

    Raises
    ------
    FileError
        The content is not valid.
    OSError
        The file cannot be read.
    """
    return from_bytes(Path(path).read_bytes(), source=os.fspath(path))


def to_bytes(content: Content) -> bytes:
    """The content of the file that `save` writes.

    Parameters
    ----------
    content : Model, Circuit, SeededCircuit or ConvolutionalCircuit

    Examples
    --------
    >>> xor = SeededCircuit(2, gates=[[6]], n_groups=1, seed=0)
    >>> from_bytes(to_bytes(xor)) == xor
    True
    """
    if isinstance(content, Model):
        return write_container(*store_model(content))
    if isinstance(content, SeededCircuit):
        return write_container(*store_seeded(content))
    if isinstance(content, ConvolutionalCircuit):
        return write_container(*store_convolutional(content))
    if isinstance(content, Circuit):
        return write_container(*store_circuit(content))
    kind = type(content).__name__
    raise TypeError(f"content must be a Model or a circuit, got {kind}; estimators have a model_")


def from_bytes(data: bytes, *, source: str = "data") -> Content:
    """Inverse of `to_bytes`; raises FileError, naming `source`, for anything that is not a valid file.

    Parameters
    ----------
    data : bytes
    source : str
        What errors call the data.

    Examples
    --------
    >>> try:
    ...     from_bytes(b"GIF89a")
    ... except FileError as error:
    ...     print(str(error)[:37])
    data is not a loadable gatewise file:
    """
    return open_container(data, source, _restore)


def _restore(tensors: Tensors, document: Document) -> Content:
    kinds: dict[str, Callable[[Tensors, Document], Content]]
    kinds = {
        "model": restore_model,
        "circuit": restore_circuit,
        "seeded": restore_seeded,
        "convolutional": restore_convolutional,
    }
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise FileError(f"kind must be one of {', '.join(kinds)}, got {kind!r:.60}; upgrade gatewise to load it")
    return kinds[kind](tensors, document)
