"""The tables that shaders read, as words of 32 bits, and what they are launched for.

In: a `Source`, sorted. Out: `Tables`.
Invariant: constants of comparisons compare as unsigned integers as the numbers do, see `order_number`.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gatewise.export.netlist import find_operations, slice_groups
from gatewise.export.source import Source

MOST_THINGS = 65_535 * 8
"""What a launch can work on: 65,535 blocks of 8."""


class Tables(NamedTuple):
    """All words; where the parts begin; and launches: the name of a shader, the first thing and their number."""

    words: list[int]
    starts: dict[str, int]
    launches: list[tuple[str, int, int]]


def make_tables(source: Source) -> Tables:
    """The tables of a model."""
    netlist = source.netlist
    questions = [(i, *bit) for i, asked in enumerate(source.asked) for bit in asked.list_bits()]
    asked_words = [
        word for column, kind, constant in questions for word in (column, kind, *order_number(constant, source.dtype))
    ]
    coded = np.stack([netlist.a << 3 | find_operations(netlist.gate), netlist.b], axis=1)
    slices = slice_groups(netlist)
    parts = {
        "ASKED": asked_words,
        "GATES": coded.ravel().tolist(),
        "BASES": [group.base for group in netlist.groups],
        "COUNTED": netlist.read_nodes().tolist(),
        "SLICES": [number % 2**32 for each in slices for number in each],
    }
    words: list[int] = []
    starts = {}
    for name, part in parts.items():
        starts[name] = len(words)
        words += part
    cuts = [("encode_rows", 0, len(questions))]
    cuts += [("evaluate_gates", first, end - first) for first, end in pairwise(netlist.cut_levels())]
    cuts += [("count_slices", 0, len(slices))]
    launches = [
        (shader, first + done, min(n - done, MOST_THINGS))
        for shader, first, n in cuts
        for done in range(0, n, MOST_THINGS)
    ]
    return Tables(words or [0], starts, launches)


def order_number(value: float | int, dtype: str) -> tuple[int, int]:
    """Two words that compare as the numbers of a dtype do, the higher first; the zeros are equal, NaN equals no number.

    Examples
    --------
    >>> [f"{word:08x}" for word in order_number(1.0, "float64")], order_number(-1, "int16")
    (['bff00000', '00000000'], (32767, 0))
    >>> order_number(-0.0, "float32") == order_number(0.0, "float32") > order_number(-1e-45, "float32")
    True
    """
    if dtype[0] != "f":
        return int(value) - int(np.iinfo(dtype).min), 0
    n_low = 32 if dtype == "float64" else 0
    bits = int(np.array(value, dtype).view(f"u{np.dtype(dtype).itemsize}")) if value else 0
    high, low = bits >> n_low, bits & (2**n_low - 1)
    if high >> 31:
        return high ^ 0xFFFFFFFF, low ^ 0xFFFFFFFF
    return high | 0x80000000, low
