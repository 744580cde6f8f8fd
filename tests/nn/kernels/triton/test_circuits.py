"""Circuits on tensors: ragged rows in several turns by the interpreter, errors, and what the compiled kernels take."""

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from support.processes import call_interpreted
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("triton", "pip install -c constraints.txt triton==3.7.1")

import torch
from support.corpus import random_dag
from support.gpu_kernels import compile_kernel

from gatewise import Circuit
from gatewise.bits import Planes
from gatewise.nn import TensorEngine, TensorPlanes
from gatewise.nn.kernels import cuda, tensor_engine
from gatewise.nn.kernels.triton import circuits
from gatewise.run import reference

XOR = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
SIZES = dict.fromkeys(["n_rows", "n_inputs", "n_groups", "n_sources", "n_gates", "first"], "i32") | {"stride": "i32!"}
WORDS = dict.fromkeys(["a", "b", "operations", "state", "counted", "slices", "counts", "classes"], "*i32")
KERNELS: dict[str, dict[str, int]] = {
    "pack_rows": {"INPUTS": tensor_engine.INPUTS, "WORDS": tensor_engine.WORDS},
    "evaluate_gates": {"GATES": tensor_engine.GATES, "WORDS": tensor_engine.WORDS},
    "count_slices": {"WORDS": tensor_engine.WORDS},
    "find_best": {"ROWS": tensor_engine.CELLS // 16, "GROUPS": 16},
}


def answer_ragged_rows() -> list[tuple[Any, ...]]:
    """Counts and classes of rows in both forms, of which 64 run at once, beside those of the reference."""
    rng = np.random.default_rng(0)
    circuit = random_dag(rng, 7, 12, 9)
    torch.use_deterministic_algorithms(True)  # new tensors hold the largest integer
    found = []
    with mock.patch.object(cuda, "has_kernels", bool), mock.patch.object(tensor_engine, "MOST_WORDS", 2):
        engine = TensorEngine(circuit, "cpu")
        for n_rows in (0, 1, 33, 130):
            rows = rng.integers(0, 2, (n_rows, 7)).astype(bool)
            given = torch.from_numpy(rows)
            halves = torch.from_numpy(Planes.pack(rows).words.view(np.int32))[:, : -(-n_rows // 32)]
            for form in (given, given.T.contiguous().T, TensorPlanes.pack(given), TensorPlanes(halves, n_rows)):
                answers = engine.counts(form).numpy(), engine.classify(form).numpy()
                found.append((*answers, reference.count_groups(circuit, rows), reference.classify(circuit, rows)))
    return found


def test_ragged_rows_in_several_turns() -> None:
    found = call_interpreted(answer_ragged_rows)
    assert len(found) == 16
    for counts, classes, expected_counts, expected_classes in found:
        assert (counts.dtype, classes.dtype) == (np.int32, np.int32)
        np.testing.assert_array_equal(counts, expected_counts)
        np.testing.assert_array_equal(classes, expected_classes)


@pytest.mark.parametrize("capability", [80, 90, 120])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_spill_nothing(name: str, capability: int, tmp_path: Path) -> None:
    types = {**SIZES, **WORDS, "rows": "*u8"}
    compiled = compile_kernel(getattr(circuits, name), types, KERNELS[name], capability, tmp_path)
    assert compiled.spilled == 0
    assert compiled.registers <= 48
    if name == "evaluate_gates":
        assert compiled.wide_loads == 2
        types["stride"] = "i32"  # of any number of words
        unfilled = compile_kernel(circuits.evaluate_gates, types, KERNELS[name], capability, tmp_path)
        assert unfilled.wide_loads == 0


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (torch.zeros(3, 2), TypeError, r"rows must be a bool tensor .* got torch.float32 of shape \(3, 2\); compare"),
        (np.zeros((3, 2), bool), TypeError, "rows must be a bool tensor .* got ndarray"),
        (torch.zeros(3, 5, dtype=torch.bool), ValueError, "rows must have 2 features, as the circuit's inputs, got 5"),
        (torch.zeros(3, 2, dtype=torch.bool, device="meta"), ValueError, "rows must be on .* engine, cpu, got meta"),
    ],
)
def test_rows_that_are_refused(rows: Any, error: type[Exception], message: str) -> None:
    with mock.patch.object(cuda, "has_kernels", bool):
        engine = TensorEngine(XOR, "cpu")
    with pytest.raises(error, match=message):
        engine.counts(rows)


def test_other_devices_are_refused() -> None:
    with pytest.raises(ValueError, match=r"device must be CUDA .* got 'cpu'; on the CPU circuits run by gatewise"):
        TensorEngine(XOR, "cpu")


def test_circuits_without_groups_have_no_classes() -> None:
    with mock.patch.object(cuda, "has_kernels", bool):
        engine = TensorEngine(Circuit(1, [], [], [], [], [0]), "cpu")
    with pytest.raises(ValueError, match="circuit must have at least one group to classify, got 0"):
        engine.classify(torch.zeros(3, 1, dtype=torch.bool))


def test_words_must_be_those_of_the_rows() -> None:
    with pytest.raises(ValueError, match=r"words must be an int32 tensor of shape \(n_features, 2\) for 33 rows, got"):
        TensorPlanes(torch.zeros(4, 1, dtype=torch.int32), 33)
