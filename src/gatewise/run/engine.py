"""Engine: runs a circuit on packed bits, natively, with nothing to compile.

In: a `Circuit` once, then rows of bits. Out: counts per group, classes, or output bits, equal bit for bit to
`gatewise.run.reference`. An engine is immutable to its callers and safe to share between threads.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from gatewise import _native
from gatewise.bits import PackedRows, Planes
from gatewise.circuit import Circuit
from gatewise.machine import TARGETS, make_pool

Rows: TypeAlias = NDArray[np.bool_] | NDArray[np.uint8] | PackedRows | Planes
Scalar = TypeVar("Scalar", np.bool_, np.int32)


class Engine:
    """A circuit, planned for this machine.

    Parameters
    ----------
    circuit : Circuit
    threads : int
        Threads that share large batches; results do not depend on it.
    target : str, optional
        Instruction set, one of `gatewise.machine.TARGETS`; the best by default.
    block_words : {1, 4, 8, 16}, optional
        Widest block, in 64-row words; chosen from the circuit's size by default.

    Examples
    --------
    >>> import numpy as np
    >>> from gatewise import Circuit, Engine
    >>> xor_and = Circuit(2, gate=[6, 1], a=[2, 2], b=[3, 3], outputs=[4, 5], group_ptr=[0, 1, 2])
    >>> engine = Engine(xor_and)
    >>> rows = np.array([[0, 0], [0, 1], [1, 1]], bool)
    >>> engine.counts(rows).tolist()
    [[0, 0], [1, 0], [0, 1]]
    >>> engine.classify(rows).tolist()
    [0, 0, 1]
    """

    _band = 0  # outputs planned together; 0 leaves the choice to the planner

    def __init__(
        self, circuit: Circuit, threads: int = 1, *, target: str | None = None, block_words: int | None = None
    ) -> None:
        if target is not None and target not in TARGETS:
            raise ValueError(f"target must be one of {TARGETS} on this machine, got {target!r}")
        if block_words not in (None, 1, 4, 8, 16):
            raise ValueError(f"block_words must be 1, 4, 8 or 16, got {block_words!r}")
        self.circuit = circuit
        self.pool = make_pool(threads)
        self.target = target or TARGETS[0]
        self._block_words = block_words or 0
        self._counting = self._plan(keep_outputs=False)

    def counts(self, rows: Rows) -> NDArray[np.int32]:
        """Number of true outputs in each group.

        Parameters
        ----------
        rows : bool or uint8 0/1 array of shape (n_rows, n_inputs), or PackedRows, or Planes

        Returns
        -------
        int32 array, shape (n_rows, n_groups)
        """
        return self._run(self._counting.counts, rows)

    def classify(self, rows: Rows) -> NDArray[np.int32]:
        """Group with the highest count, ties to the lowest.

        Parameters
        ----------
        rows : as for `counts`

        Returns
        -------
        int32 array, shape (n_rows,)
        """
        if self.circuit.n_groups == 0:
            raise ValueError("circuit must have at least one group to classify, got 0")
        return self._run(self._counting.classify, rows)

    def outputs(self, rows: Rows) -> NDArray[np.bool_]:
        """Every output bit.

        Parameters
        ----------
        rows : as for `counts`

        Returns
        -------
        bool array, shape (n_rows, n_outputs)
        """
        return self._run(self._keeping.outputs, rows)

    @property
    def threads(self) -> int:
        """Threads that share large batches."""
        return self.pool.threads

    @property
    def block_words(self) -> int:
        """Widest block, in 64-row words."""
        return int(self._counting.words)

    @property
    def n_slots(self) -> int:
        """Wires held at once; a block's working set is ``8 * block_words`` bytes for each."""
        return int(self._counting.n_slots)

    def __repr__(self) -> str:
        return (
            f"Engine({self.circuit!r}, threads={self.threads}, target={self.target!r}, "
            f"block_words={self.block_words}, n_slots={self.n_slots})"
        )

    @cached_property
    def _keeping(self) -> _native.Engine:
        return self._plan(keep_outputs=True)

    def _plan(self, keep_outputs: bool) -> _native.Engine:
        return _native.Engine(
            _native.Circuit(self.circuit.n_inputs, *self.circuit.arrays),
            keep_outputs=keep_outputs,
            target=self.target,
            words=self._block_words,
            band=self._band,
        )

    def _run(
        self,
        call: Callable[[NDArray[np.uint8], int, "_native.Layout", _native.Pool], NDArray[Scalar] | None],
        rows: Rows,
    ) -> NDArray[Scalar]:
        n_features, data, n_rows, layout = _arrange(rows)
        if n_features != self.circuit.n_inputs:
            raise ValueError(
                f"rows must have {self.circuit.n_inputs} features, as the circuit's inputs, got {n_features}"
            )
        result = call(data, n_rows, layout, self.pool)
        if result is None:
            bits = np.asarray(rows).view(np.uint8)
            row, column = np.argwhere(bits > 1)[0]
            raise ValueError(f"rows must hold 0 and 1 only, got {bits[row, column]} at row {row}, column {column}")
        return result


def _arrange(rows: Rows) -> tuple[int, NDArray[np.uint8], int, "_native.Layout"]:
    """Number of features, and what the native module wants to know: the bytes, the number of rows, their layout."""
    if isinstance(rows, PackedRows):
        data = rows.data if rows.data.strides[1] == 1 else np.ascontiguousarray(rows.data)
        return rows.n_features, data, len(rows), rows.bitorder
    if isinstance(rows, Planes):
        return len(rows.words), np.ascontiguousarray(rows.words).view(np.uint8), len(rows), "planes"
    if not isinstance(rows, np.ndarray) or rows.dtype not in (np.bool_, np.uint8):
        kind = f"{rows.dtype} array" if isinstance(rows, np.ndarray) else type(rows).__name__
        raise TypeError(
            f"rows must be a bool or uint8 array, PackedRows or Planes, got {kind}; "
            "compare with a threshold to make bits, as in rows > 0.5"
        )
    if rows.ndim != 2:
        raise ValueError(f"rows must have shape (n_rows, n_features), got {rows.shape}")
    return rows.shape[1], rows.view(np.uint8), len(rows), "bytes"
