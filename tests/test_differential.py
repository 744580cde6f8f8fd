"""Every circuit of the corpus in every back end, against the reference evaluator, bit for bit.

A back end is one entry of `BACK_ENDS`: a function that counts the groups of all circuits for all batches of rows. It
gives one array per batch, or several, each of which must be right.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from support.batches import Answers, Case
from support.corpus import circuits, random_rows
from support.netlists import run_aiger, run_ascii_aiger, run_blif, run_onnx, run_pipelined_verilog, run_verilog
from support.programs.c import count_by_c, find_machine
from support.programs.cuda import count_by_cuda
from support.programs.tensors import count_by_tensors
from support.programs.wasm import count_by_wasm
from support.programs.wgsl import count_by_wgsl

from gatewise import Circuit, Engine
from gatewise.export.source import Style
from gatewise.machine import TARGETS
from gatewise.run import reference

CORPUS = circuits()
ROW_COUNTS = (0, 1, 63, 64, 65, 255, 256, 257, 1000)


def run_engine(target: str, cases: Sequence[Case], _: Path) -> Answers:
    return [[(Engine(circuit, target=target).counts(rows),) for rows in batches] for circuit, batches in cases]


def run_c(machine: str, style: str, lanes: int, cases: Sequence[Case], folder: Path) -> Answers:
    return count_by_c(find_machine(machine), folder, cases, style, lanes)


def run_wasm(style: Style, cases: Sequence[Case], folder: Path) -> Answers:
    return count_by_wasm(folder, cases, style)


def run_tensors(cases: Sequence[Case], _: Path) -> Answers:
    return count_by_tensors(cases)


def run_wgsl(cases: Sequence[Case], folder: Path) -> Answers:
    return count_by_wgsl(folder, cases)


def run_cuda(cases: Sequence[Case], folder: Path) -> Answers:
    return count_by_cuda(folder, cases)


def run_netlist(run: Callable[[Circuit, np.ndarray], np.ndarray], cases: Sequence[Case], _: Path) -> Answers:
    """Tools that give outputs get all batches of a circuit at once, as each call starts a program."""
    answers: Answers = []
    for circuit, batches in cases:
        outputs = run(circuit, np.concatenate(batches))
        counts = np.add.reduceat(np.pad(outputs, ((0, 0), (0, 1))), circuit.group_ptr[:-1], axis=1, dtype=np.int32)
        counts = np.where(np.diff(circuit.group_ptr) > 0, counts, 0)
        answers.append([(part,) for part in np.split(counts, np.cumsum([len(rows) for rows in batches])[:-1])])
    return answers


BACK_ENDS: dict[str, Callable[[Sequence[Case], Path], Answers]] = {
    **{f"engine {target}": partial(run_engine, target) for target in TARGETS},
    "C unrolled": partial(run_c, "gcc", "unrolled", 64),
    "C table": partial(run_c, "sanitized gcc", "table", 64),
    "C unrolled, vectors": partial(run_c, "gcc", "unrolled", 512),
    "C unrolled, clang": partial(run_c, "clang", "unrolled", 256),
    "C table, zig": partial(run_c, "zig", "table", 16),
    "C unrolled, aarch64": partial(run_c, "aarch64", "unrolled", 128),
    "AIGER": partial(run_netlist, run_aiger),
    "AIGER, ascii": partial(run_netlist, run_ascii_aiger),
    "BLIF": partial(run_netlist, run_blif),
    "ONNX": partial(run_netlist, run_onnx),
    "Verilog": partial(run_netlist, run_verilog),
    "Verilog, pipelined": partial(run_netlist, run_pipelined_verilog),
    "C table, Cortex-M3": partial(run_c, "cortex-m3", "table", 8),
    "C unrolled, Cortex-M3": partial(run_c, "cortex-m3", "unrolled", 32),
    "WebAssembly unrolled, node and wasmtime": partial(run_wasm, "unrolled"),
    "WebAssembly table, node and wasmtime": partial(run_wasm, "table"),
    "tensors, by Triton's interpreter": run_tensors,
    "WGSL, wgpu and Chromium": run_wgsl,
    "CUDA, as C++": run_cuda,
}


@cache
def make_cases() -> list[Case]:
    rng = np.random.default_rng(0)
    return [
        (circuit, [random_rows(rng, n_rows, circuit.n_inputs) for n_rows in ROW_COUNTS]) for circuit in CORPUS.values()
    ]


@cache
def expected_counts() -> list[list[np.ndarray]]:
    return [[reference.count_groups(circuit, rows) for rows in batches] for circuit, batches in make_cases()]


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_counts_equal_the_reference(back_end: str, tmp_path: Path) -> None:
    answers = BACK_ENDS[back_end](make_cases(), tmp_path)
    for name, expected, found in zip(CORPUS, expected_counts(), answers, strict=True):
        for counts, arrays in zip(expected, found, strict=True):
            for array in arrays:
                np.testing.assert_array_equal(array, counts, err_msg=name)
