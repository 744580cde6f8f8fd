"""Counts for hardware: a tree of small adders whose outputs are a lookup table each.

In: wires of one group, with the level at which each is known. Out: compressors, and the wires of the count.
Invariant: a compressor has no more inputs than a table; bits that are known first are added first. With six inputs it
has three outputs, and a count of n bits takes about n tables; for tables of four inputs it is a full adder.
"""

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

LutInputs: TypeAlias = Literal[4, 6]
N_TWOS = {2: 2, 3: 2, 4: 1, 5: 1, 6: 0}
"""Inputs of weight two that join so many of weight one, at most, in a sum below eight."""


@dataclass(frozen=True)
class Compressor:
    """A sum of wires: `ones` count once, `twos` twice; the outputs are its bits, the least significant first.

    Bits of the sum that are known to be 0 may have no output.
    """

    ones: tuple[int, ...]
    twos: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def inputs(self) -> tuple[int, ...]:
        """All wires that are read."""
        return self.ones + self.twos


class CompressorTree:
    """Compressors that count wires, over tables of `lut_inputs` inputs.

    `levels` has the level of each wire, and gets those of the wires that compressors drive, which take `cost` levels.

    Examples
    --------
    >>> tree = CompressorTree([0] * 9, cost=1, lut_inputs=6)
    >>> tree.count([2, 3, 4, 5, 6, 7, 8])
    [11, 12, 13]
    >>> for compressor in tree.compressors:
    ...     print(compressor)
    Compressor(ones=(2, 3, 4), twos=(), outputs=(9, 10))
    Compressor(ones=(5, 6, 7, 8, 9), twos=(10,), outputs=(11, 12, 13))
    """

    def __init__(self, levels: list[int], cost: int, lut_inputs: LutInputs) -> None:
        self.compressors: list[Compressor] = []
        self._levels = levels
        self._cost = cost
        self._is_wide = lut_inputs == 6

    def count(self, wires: Sequence[int]) -> list[int]:
        """The wires of the number of true ones among `wires`, as many bits as their number has."""
        n_bits = len(wires).bit_length()
        columns: list[list[tuple[int, int]]] = [[] for _ in range(n_bits)]
        multiplicity = Counter(wire for wire in wires if wire != 0)
        for wire, m in multiplicity.items():
            for k in range(m.bit_length()):
                if m >> k & 1:
                    heapq.heappush(columns[k], (self._levels[wire], wire))
        number = []
        for k in range(n_bits):
            while len(columns[k]) > 1:
                n_ones = _choose_size(len(columns[k])) if self._is_wide else min(3, len(columns[k]))
                n_twos = min(N_TWOS[n_ones], len(columns[k + 1])) if self._is_wide and k + 1 < n_bits else 0
                self._compress(columns[k:], n_ones, n_twos)
            number.append(columns[k][0][1] if columns[k] else 0)
        return number

    def _compress(self, columns: list[list[tuple[int, int]]], n_ones: int, n_twos: int) -> None:
        """Take the earliest wires of the first column, and some of the second, and put back their sum."""
        ones = tuple(heapq.heappop(columns[0])[1] for _ in range(n_ones))
        twos = tuple(heapq.heappop(columns[1])[1] for _ in range(n_twos))
        n_outputs = min((n_ones + 2 * n_twos).bit_length(), len(columns))
        level = max(self._levels[wire] for wire in ones + twos) + self._cost
        outputs = tuple(range(len(self._levels), len(self._levels) + n_outputs))
        for column, wire in zip(columns, outputs, strict=False):
            self._levels.append(level)
            heapq.heappush(column, (level, wire))
        self.compressors.append(Compressor(ones, twos, outputs))


def _choose_size(n: int) -> int:
    """How many of n wires of one weight to add next, so that the last of them do not need small compressors.

    Six leave one of their weight, which takes five away, and five take four; both waste no table. So n - 1 is written
    as a sum of fives and fours where it can be; of 1, 2, 3, 6, 7 and 11, which are no such sums, a rest is taken first.

    Examples
    --------
    >>> [_choose_size(n) for n in (2, 3, 4, 5, 6, 7, 8, 10, 12, 100)]
    [2, 3, 4, 5, 6, 3, 3, 6, 3, 6]
    """
    excess = n - 1
    n_fours = -excess % 5
    if 4 * n_fours > excess:
        return min(n, 3) if excess > 3 else n
    return 6 if excess >= 5 + 4 * n_fours else 5
