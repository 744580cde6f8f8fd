"""Batches of rows for programs of other languages: files that they read, and files that they write.

`in.bin` holds batches of each circuit, each its number of rows and their bits, a byte each, up to a -1. `out.bin` holds
the counts of each batch twice: those of single rows and those of many, or those of rows and those of packed bits. All
numbers are little-endian int32.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from gatewise import Circuit

Case: TypeAlias = tuple[Circuit, Sequence[np.ndarray]]
Answers: TypeAlias = list[list[tuple[np.ndarray, ...]]]


def write_batches(folder: Path, cases: Sequence[Case]) -> None:
    """Write in.bin."""
    end = np.int32(-1).tobytes()
    parts = [
        b"".join(np.int32(len(rows)).tobytes() + rows.astype(np.uint8).tobytes() for rows in batches) + end
        for _, batches in cases
    ]
    (folder / "in.bin").write_bytes(b"".join(parts))


def read_answers(folder: Path, cases: Sequence[Case]) -> Answers:
    """Read out.bin."""
    sizes = [len(rows) * circuit.n_groups for circuit, batches in cases for rows in batches for _ in range(2)]
    counts = np.frombuffer((folder / "out.bin").read_bytes(), "<i4")
    assert len(counts) == sum(sizes)
    arrays = iter(np.split(counts, np.cumsum(sizes)))
    return [
        [tuple(next(arrays).reshape(len(rows), circuit.n_groups) for _ in range(2)) for rows in batches]
        for circuit, batches in cases
    ]
