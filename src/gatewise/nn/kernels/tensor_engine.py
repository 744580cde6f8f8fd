"""Circuits on the tensors of a GPU: what `gatewise.Engine` is on the CPU.

In: a circuit; rows of bits, a byte or a bit each, on a device. Out: counts or classes, on the device.
Invariant: the answers are those of `gatewise.run.reference`, bit for bit. Nothing is copied to the host, and the host
waits for nothing. Triton is imported when the first engine is made, and not before.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gatewise.circuit import N_CONSTANTS, Circuit, find_levels
from gatewise.gates import coefficients
from gatewise.nn.kernels import cuda

LANES = 32
STATE_BYTES = 2**25
"""What the words of the rows that run at once may take, unless 1,024 rows take more: second-level caches hold it."""

MOST_WORDS = 2**15
SLICE = 256
"""Outputs that a program counts."""

GATES, WORDS, INPUTS, CELLS = 16, 32, 32, 2048
"""Tiles of programs: gates or inputs by words, and counts."""


@dataclass(frozen=True, eq=False)
class TensorPlanes:
    """Bit-planes on any device: row i of feature f is bit ``i % 32`` of ``words[f, i // 32]``.

    They are the words of `gatewise.bits.Planes`, halved. Bits past the last row are ignored.

    Parameters
    ----------
    words : int32 tensor, shape (n_features, ceil(n_rows / 32))
    n_rows : int

    Examples
    --------
    >>> planes = TensorPlanes.pack(torch.tensor([[0, 1, 1], [1, 0, 1]], dtype=torch.bool))
    >>> planes.words.flatten().tolist(), len(planes)
    ([2, 1, 3], 2)
    """

    words: Tensor
    n_rows: int

    def __post_init__(self) -> None:
        n_words = -(-self.n_rows // LANES)
        if self.words.dtype != torch.int32 or self.words.dim() != 2 or self.words.shape[1] != n_words:
            raise ValueError(
                f"words must be an int32 tensor of shape (n_features, {n_words}) for {self.n_rows} rows, "
                f"got {self.words.dtype} of shape {tuple(self.words.shape)}"
            )

    @classmethod
    def pack(cls, rows: Tensor) -> "TensorPlanes":
        """Pack bool rows of shape (n_rows, n_features)."""
        n_rows, n_features = _check_rows(rows).shape
        n_words = -(-n_rows // LANES)
        padded = torch.nn.functional.pad(rows.T, (0, -n_rows % LANES)).reshape(n_features, n_words, LANES)
        lanes = torch.arange(LANES, dtype=torch.int32, device=rows.device)
        return cls((padded.int() << lanes).sum(2, dtype=torch.int32), n_rows)

    def __len__(self) -> int:
        return self.n_rows


class TensorEngine:
    """Runs a circuit on a GPU, on tensors that are there.

    Parameters
    ----------
    circuit : Circuit
    device : torch.device or str
        CUDA, of compute capability 8.0 or later, with Triton, which comes with torch's builds for CUDA.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> if torch.cuda.is_available():
    ...     rows = torch.tensor([[0, 0], [0, 1]], dtype=torch.bool, device="cuda")
    ...     assert TensorEngine(xor).counts(rows).tolist() == [[0], [1]]
    """

    def __init__(self, circuit: Circuit, device: torch.device | str = "cuda") -> None:
        self.circuit, self.device = circuit, torch.device(device)
        if not cuda.has_kernels(self.device):
            raise ValueError(
                f"device must be CUDA of compute capability 8.0 or later, with Triton, got {str(device)!r}; "
                "on the CPU circuits run by gatewise.Engine"
            )
        from gatewise.nn.kernels.triton import circuits, plan

        self._kernels, self._device_of = circuits, plan.device_of
        self._n_sources = N_CONSTANTS + circuit.n_inputs
        level = find_levels(self._n_sources, circuit.a, circuit.b)[self._n_sources :]
        order = np.argsort(level, kind="stable")
        place = np.arange(circuit.n_wires)
        place[self._n_sources + order] = self._n_sources + np.arange(circuit.n_gates)
        cuts = np.searchsorted(level[order], np.arange(1, level.max(initial=0) + 2)).tolist()
        self._levels = list(zip(cuts[:-1], np.diff(cuts).tolist(), strict=True))
        terms = (coefficients().astype(np.int64) & 1) @ np.array([1, 2, 4, 8])
        wires = place[circuit.a][order], place[circuit.b][order], terms[circuit.gate[order]]
        self._a, self._b, self._operations = map(self._send, wires)
        self._counted = self._send(place[circuit.outputs])
        self.device = self._counted.device  # with its number, which "cuda" lacks
        self._slices = self._send(np.array(_slice_groups(circuit.group_ptr.tolist())).reshape(-1, 3))
        words = STATE_BYTES // (4 * circuit.n_wires) // WORDS * WORDS
        self._most_words = min(max(words, WORDS), MOST_WORDS)

    def counts(self, rows: Tensor | TensorPlanes) -> Tensor:
        """Number of true outputs in each group.

        Parameters
        ----------
        rows : bool tensor of shape (n_rows, n_inputs), or TensorPlanes
            On the device of the engine.

        Returns
        -------
        int32 tensor, shape (n_rows, n_groups)
        """
        bits = rows.words.T if isinstance(rows, TensorPlanes) else _check_rows(rows)
        if bits.shape[1] != self.circuit.n_inputs:
            raise ValueError(
                f"rows must have {self.circuit.n_inputs} features, as the circuit's inputs, got {bits.shape[1]}"
            )
        if bits.device != self.device:
            raise ValueError(f"rows must be on the device of the engine, {self.device}, got {bits.device}")
        n_rows, step = len(rows), LANES * self._most_words
        counts = torch.zeros((n_rows, self.circuit.n_groups), dtype=torch.int32, device=bits.device)
        with self._device_of(bits):
            for first in range(0, n_rows, step):
                part = counts[first : first + step]
                n_words = -(-len(part) // LANES)
                state = self._make_state(n_words)
                if isinstance(rows, TensorPlanes):
                    sent = rows.words[:, first // LANES : first // LANES + n_words]
                    state[N_CONSTANTS : self._n_sources, :n_words] = sent
                elif self.circuit.n_inputs:
                    self._pack(rows[first : first + step], state)
                self._evaluate(state, part)
        return counts

    def classify(self, rows: Tensor | TensorPlanes) -> Tensor:
        """Group with the highest count, ties to the lowest.

        Parameters
        ----------
        rows : as for `counts`

        Returns
        -------
        int32 tensor, shape (n_rows,)
        """
        if self.circuit.n_groups == 0:
            raise ValueError("circuit must have at least one group to classify, got 0")
        counts = self.counts(rows)
        n_rows, n_groups = counts.shape
        classes = torch.empty(n_rows, dtype=torch.int32, device=counts.device)
        width = 1 << (n_groups - 1).bit_length()
        tile = max(CELLS // width, 1)
        if n_rows:
            with self._device_of(counts):
                self._kernels.find_best[(-(-n_rows // tile),)](
                    counts, classes, n_rows, n_groups, ROWS=tile, GROUPS=width
                )
        return classes

    def __repr__(self) -> str:
        return f"TensorEngine({self.circuit!r}, device={str(self.device)!r})"

    def _send(self, numbers: NDArray[np.integer[Any]]) -> Tensor:
        return torch.from_numpy(numbers.astype(np.int32)).to(self.device)

    def _make_state(self, n_words: int) -> Tensor:
        """Words of all wires; those of gates, and those that only fill up, are whatever was there."""
        stride = -(-n_words // WORDS) * WORDS
        state = torch.empty((self.circuit.n_wires, stride), dtype=torch.int32, device=self.device)
        state[0], state[1] = 0, -1
        return state

    def _pack(self, rows: Tensor, state: Tensor) -> None:
        (n_rows, n_inputs), stride = rows.shape, state.stride(0)
        self._kernels.pack_rows[-(-n_inputs // INPUTS), stride // WORDS](
            rows.contiguous().view(torch.uint8), state, n_rows, n_inputs, stride, INPUTS=INPUTS, WORDS=WORDS
        )

    def _evaluate(self, state: Tensor, counts: Tensor) -> None:
        stride, tables = state.stride(0), (self._a, self._b, self._operations)
        for first, n_gates in self._levels:
            self._kernels.evaluate_gates[-(-n_gates // GATES), stride // WORDS](
                *tables, state, first, n_gates, self._n_sources, stride, GATES=GATES, WORDS=WORDS
            )
        if len(self._slices):
            self._kernels.count_slices[len(self._slices), stride // WORDS](
                state, self._counted, self._slices, counts, *counts.shape, stride, WORDS=WORDS
            )


def _check_rows(rows: object) -> Tensor:
    if isinstance(rows, Tensor) and rows.dtype == torch.bool and rows.dim() == 2:
        return rows
    shape = f"{rows.dtype} of shape {tuple(rows.shape)}" if isinstance(rows, Tensor) else type(rows).__name__
    raise TypeError(
        f"rows must be a bool tensor of shape (n_rows, n_features), or TensorPlanes, got {shape}; "
        "compare with a threshold to make bits, as in rows > 0.5"
    )


def _slice_groups(group_ptr: list[int]) -> list[tuple[int, int, int]]:
    """First output, number of outputs and group of pieces that programs count.

    Examples
    --------
    >>> _slice_groups([0, 300, 300, 302])
    [(0, 256, 0), (256, 44, 0), (300, 2, 2)]
    """
    ends = enumerate(pairwise(group_ptr))
    return [(at, min(SLICE, end - at), k) for k, (first, end) in ends for at in range(first, end, SLICE)]
