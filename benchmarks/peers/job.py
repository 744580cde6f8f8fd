"""What every peer's runner is given and gives back: paths in, one JSON line out. Needs numpy only.

A runner builds the peer's own model of the net, compiles it with the peer's own compiler call, and times it.
The compiled library and its preparation times stay in the cache, because compiling takes minutes. What was compiled
while the machine was busy is compiled again, for its time, by a job without rows on an idle one.
"""

import argparse
import hashlib
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.nets import Net
from benchmarks.peers.install import pinned_version
from benchmarks.timer import MAX_BUSY, measure_busy

Prepare = Callable[[Net, int, Path], dict[str, Any]]


@dataclass(frozen=True)
class Job:
    """A net to compile at one optimization level and, unless `rows_path` is None, to time."""

    net: Net
    opt_level: int
    cache: Path
    rows_path: Path | None
    counts_path: Path | None
    loop_path: Path | None

    @classmethod
    def from_command_line(cls) -> "Job":
        """Parse the arguments that `benchmarks.infer` passes."""
        parser = argparse.ArgumentParser()
        parser.add_argument("net", type=Path)
        parser.add_argument("--opt-level", type=int, required=True)
        parser.add_argument("--cache", type=Path, required=True)
        parser.add_argument("--rows", type=Path)
        parser.add_argument("--counts", type=Path)
        parser.add_argument("--loop", type=Path)
        args = parser.parse_args()
        return cls(Net.load(args.net), args.opt_level, args.cache, args.rows, args.counts, args.loop)

    def library(self, peer: str, prepare: Prepare) -> tuple[Path, dict[str, Any]]:
        """The compiled library and what was noted when it was made.

        "compiled_busy" is the share of the cores' time that other processes took when `prepare` was called.
        """
        path = self.cache / f"{peer}-{self._key(peer)}-O{self.opt_level}.so"
        notes = path.with_suffix(".json")
        made: dict[str, Any] | None = json.loads(notes.read_text()) if notes.exists() else None
        if made is None or (self.rows_path is None and made["compiled_busy"] > MAX_BUSY >= measure_busy()):
            self.cache.mkdir(parents=True, exist_ok=True)
            busy = measure_busy()
            made = prepare(self.net, self.opt_level, path) | {"compiled_busy": busy}
            notes.write_text(json.dumps(made))
        return path, made

    def _key(self, peer: str) -> str:
        """Hash of all that the library is made from: the net, the peer's version, the compiler's."""
        compiler = subprocess.run(["gcc", "--version"], check=True, capture_output=True, text=True).stdout
        return hashlib.sha256(f"{self.net.key} {pinned_version(peer)} {compiler}".encode()).hexdigest()[:16]

    def save_counts(self, counts: NDArray[Any]) -> None:
        """Write the counts for the caller to compare."""
        assert self.counts_path is not None
        np.save(self.counts_path, counts)

    def rows(self) -> NDArray[np.bool_]:
        """The input rows, in plain memory."""
        assert self.rows_path is not None
        rows: NDArray[np.bool_] = np.load(self.rows_path)
        return rows


def pack_words(rows: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """64 rows to a word, row 0 in the lowest bit: shape (n_rows // 64, n_inputs)."""
    n_rows, n_inputs = rows.shape
    by_lane = rows.reshape(n_rows // 64, 64, n_inputs)
    words = np.zeros((n_rows // 64, n_inputs), np.uint64)
    for lane in range(64):
        words |= by_lane[:, lane].astype(np.uint64) << np.uint64(lane)
    return words
