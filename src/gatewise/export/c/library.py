"""Shared libraries: a model compiled by a C compiler, and loaded again to run instead of the engine.

In: a model. Out: a package with a library of the C interface; and from its folder, a `Library` that predicts.
Invariant: a `Library` gives what its model gives, bit for bit.
"""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.export.c import to_c
from gatewise.export.package import Package
from gatewise.export.source import Style
from gatewise.model import Model
from gatewise.tools.compilers import COMPILER, PREFIX, SUFFIX, build_library

MAX_ROWS = 2**20
"""Rows of a call, whose number is an int32."""


def to_lib(
    model: Model, *, style: Style = "unrolled", name: str = "model", compiler: Sequence[str] | None = None
) -> Package:
    """A model as a shared library for this machine, with its source.

    Parameters
    ----------
    model, style, name
        See `to_c`.
    compiler : sequence of str, optional
        The command of a C compiler; by default the variable CC, cc, gcc, clang or zig, the first there is.

    Returns
    -------
    dict of file name to bytes
        What `to_c` gives, the library, and the model as a ``.gw`` file, which `load_library` reads.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> from gatewise.heads import Affine
    >>> model = Model.build(Encoder.fit([[1.0], [2.0]]), Circuit(1, [], [], [], [2], [0, 1]), Affine((3,), (1,), 1))
    >>> sorted(to_lib(model, name="step"))
    ['README.md', 'check.c', 'libstep.so', 'step.c', 'step.gw', 'step.h', 'vectors.txt']
    """
    if not isinstance(model, Model):
        raise TypeError(f"model must be a Model to become a library, got {type(model).__name__}; to_c takes circuits")
    files = to_c(model, style=style, name=name)
    library = build_library(files, [f"{name}.c"], compiler or COMPILER.find())
    return files | {f"{PREFIX}{name}{SUFFIX}": library, f"{name}.gw": model.to_bytes()}


class Library:
    """A model whose rows are evaluated by the shared library at `path`, where names start with `name`."""

    def __init__(self, model: Model, path: str | os.PathLike[str], name: str) -> None:
        self.model = model
        self._count_rows = getattr(ctypes.CDLL(os.fspath(path)), f"{name}_counts_rows")
        self._count_rows.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p]
        self._count_rows.restype = None

    def counts(self, X: Any) -> NDArray[np.int32]:
        """Number of true outputs in each group, shape (n_rows, n_groups)."""
        rows = self.model.encoder.to_numbers(X)
        counts = np.empty((len(rows), self.model.circuit.n_groups), np.int32)
        for start in range(0, len(rows), MAX_ROWS):
            piece, result = rows[start : start + MAX_ROWS], counts[start : start + MAX_ROWS]
            self._count_rows(piece.ctypes.data, len(piece), result.ctypes.data)
        return counts

    def scores(self, X: Any) -> NDArray[np.float64]:
        """What `Model.scores` gives, shape (n_rows, n_groups)."""
        return self.model.head.scores(self.counts(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """What `Model.predict` gives."""
        return self.model.head.predict(self.counts(X))


def load_library(folder: str | os.PathLike[str]) -> Library:
    """Load what `to_lib` made, from the folder that it was saved to. Its machine code runs: trust where it comes from.

    Examples
    --------
    >>> import tempfile
    >>> from gatewise import Circuit, Encoder
    >>> from gatewise.export import save_package
    >>> from gatewise.heads import Affine
    >>> model = Model.build(Encoder.fit([[1.0], [2.0]]), Circuit(1, [], [], [], [2], [0, 1]), Affine((3,), (1,), 1))
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     save_package(to_lib(model), f"{parent}/step")
    ...     load_library(f"{parent}/step").predict([[0.0], [5.0]]).tolist()
    [1.0, 4.0]
    """
    found = sorted(Path(folder).glob("*.gw"))
    if len(found) != 1:
        raise ValueError(f"folder {os.fspath(folder)} must hold one .gw file, as to_lib makes, got {len(found)}")
    library = (Path(folder) / f"{PREFIX}{found[0].stem}{SUFFIX}").absolute()
    if not library.exists():
        raise FileNotFoundError(f"{library} must exist, as to_lib makes it, got no such file; export again")
    return Library(Model.load(found[0]), library, found[0].stem)
