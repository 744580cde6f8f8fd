"""Runner of difflogic's compiled net: 64-bit words, gcc, the optimization level of the job.

Timed are its documented call on a bool array, its C function below that call (which spares a copy of the
rows), and its bare kernel on words that are packed already, without packing and counting.
"""

import ctypes
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.nets import Net
from benchmarks.peers.job import Job, pack_words
from benchmarks.process import cpu_seconds
from benchmarks.timer import time_calls

sys.modules["difflogic_cuda"] = types.ModuleType("difflogic_cuda")  # imported at once, used on GPUs only

import torch  # noqa: E402
from difflogic import CompiledLogicNet, GroupSum, LogicLayer  # noqa: E402

WORD_BITS = 64


def build_model(net: Net) -> torch.nn.Sequential:
    """The peer's model with exactly the net's wiring and gates."""
    layers: list[torch.nn.Module] = []
    width = net.n_inputs
    for a, b, gate in net.layers():
        layer = LogicLayer(width, len(gate), device="cpu")
        layer.indices = torch.from_numpy(a).long(), torch.from_numpy(b).long()
        layer.weights.data = torch.nn.functional.one_hot(torch.from_numpy(gate).long(), 16).float()
        layers.append(layer)
        width = len(gate)
    return torch.nn.Sequential(*layers, GroupSum(net.n_groups, device="cpu"))


def prepare(net: Net, opt_level: int, path: Path) -> dict[str, Any]:
    """Compile by the peer's own call; the time, from finished model to loaded library, is processor time."""
    model = build_model(net)
    start = cpu_seconds()
    compiled = CompiledLogicNet(model, num_bits=WORD_BITS, cpu_compiler="gcc")
    compiled.compile(opt_level=opt_level, save_lib_path=str(path))
    return {"preparation_s": cpu_seconds() - start}


def run(job: Job, path: Path) -> dict[str, float]:
    """Nanoseconds per row, three ways; writes the counts for the caller to compare."""
    rows = job.rows()
    n_rows, n_words = len(rows), len(rows) // WORD_BITS
    compiled = CompiledLogicNet.load(str(path), job.net.n_groups, WORD_BITS)
    job.save_counts(compiled(rows).numpy())
    out = np.zeros(n_rows * job.net.n_groups, np.int32)
    flat = rows.reshape(-1)
    calls = {
        "call": lambda: compiled(rows),
        "library": lambda: compiled.lib_fn(flat, out, n_words),
        "kernel": bare_kernel(job, path, pack_words(rows)),
    }
    return time_calls(calls, n_rows)


def bare_kernel(job: Job, path: Path, words: NDArray[np.uint64]) -> Callable[[], None]:
    """A call of the bare kernel over all words, one output buffer reused as in the peer's own loop."""
    kernel = ctypes.CDLL(str(path)).logic_gate_net
    run_kernel = ctypes.CDLL(str(job.loop_path)).run_kernel
    out = np.zeros(job.net.gate.shape[1], np.int64)
    n_words, n_inputs = (ctypes.c_size_t(n) for n in words.shape)

    def call() -> None:
        run_kernel(kernel, *(ctypes.c_void_p(array.ctypes.data) for array in (words, out)), n_words, n_inputs)

    return call


def main() -> None:
    """Compile unless cached, time when there are rows, print the findings as JSON."""
    job = Job.from_command_line()
    path, result = job.library("difflogic", prepare)
    if job.rows_path is not None:
        result |= run(job, path)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
