"""`gatewise selfcheck`: what it finds right and wrong, and what it says it did not run; a GPU is mocked."""

import json
import subprocess
import sys
from typing import Any
from unittest import mock

import numpy as np
import pytest
from support.processes import call_interpreted, missing
from support.tools import require_module

import gatewise
from gatewise import Engine
from gatewise.cli import main
from gatewise.machine import TARGETS
from gatewise.run import selfcheck
from gatewise.run.selfcheck import KNOWN_TARGETS, Finding, check_engine


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is timed for long, and torch is left out."""
    monkeypatch.setattr(selfcheck, "SECONDS", 0.0)
    monkeypatch.setattr(selfcheck, "MANY_ROWS", 64)
    monkeypatch.setattr("gatewise.cli.commands.selfcheck.check_torch", lambda: ([], [], ["GPUs: none"]))


@pytest.mark.usefixtures("fast")
def test_a_machine_that_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selfcheck", "--threads", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"gatewise {gatewise.__version__}, python 3.")
    for target in KNOWN_TARGETS:
        start = (
            f"right   engine, {target}, 1 thread: " if target in TARGETS else f"not run engine, {target}: not on this"
        )
        assert sum(line.startswith(start) for line in lines) == 1
    assert any(line.startswith(f"right   engine, {TARGETS[0]}, 2 threads: ") for line in lines)
    assert lines[-3:-1] == [
        "not run GPUs: none",
        "not run exported code: each export has a check of its own, see its README",
    ]
    assert lines[-1] == f"All {len(TARGETS) + 1} checks are right."


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("counts", "counts of ndarray of 1 rows of every gate must be those of the reference, got others"),
        ("classify", "classes of 63 rows of every gate must be those of the reference, got others"),
        ("outputs", "outputs of 1 rows of every gate must be those of the reference, got others"),
    ],
)
def test_wrong_answers_are_found(
    method: str, wrong: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = getattr(Engine, method)

    def spoil(engine: Engine, rows: Any) -> np.ndarray:
        found: np.ndarray = right(engine, rows)
        return found ^ (np.arange(len(found)) == (len(found) - 1 if method != "classify" else 62)).reshape(
            -1, *[1] * (found.ndim - 1)
        )

    monkeypatch.setattr(Engine, method, spoil)
    assert check_engine("portable").wrong == wrong
    assert main(["selfcheck", "--threads", "1", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["wrong"] == len(TARGETS)
    assert {finding["wrong"] for finding in report["findings"]} == {wrong}


def test_all_instruction_sets_are_known() -> None:
    assert set(TARGETS) <= set(KNOWN_TARGETS)


def test_training_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    require_module("torch", "pip install -c constraints.txt torch==2.13.0")
    from gatewise.nn import TrainStep
    from gatewise.nn.kernels.selfcheck import check_device

    (finding,) = check_device("cpu", width=400)
    assert (finding.name, finding.wrong) == ("training, the CPU", "")
    assert finding.unit == "ms per step of 6 layers of 400 gates, 128 rows"
    monkeypatch.setattr(TrainStep, "__call__", lambda *_: 0.0)
    (finding,) = check_device("cpu", width=400)
    assert finding.wrong.startswith("weights must be those of autograd up to 0.0001, got a difference of 0.")


def check_circuits_of_tensors() -> list[Finding]:
    """Of tensors, in the interpreter; then with counts that are wrong."""
    from gatewise.nn import TensorEngine
    from gatewise.nn.kernels import cuda
    from gatewise.nn.kernels import selfcheck as checks

    counts, every = TensorEngine.counts, {"every gate": selfcheck.draw_circuits()["every gate"]}
    few = {
        "ROW_COUNTS": (0, 33),
        "draw_circuits": lambda: every,
        "time_call": lambda call, seconds: mock.Mock(median=2.0),
    }
    spoiled = mock.patch.object(TensorEngine, "counts", lambda engine, rows: counts(engine, rows) * 0)
    with mock.patch.object(cuda, "has_kernels", bool), mock.patch.multiple(checks, **few):
        right = checks.check_circuits("cpu", 400)
        with spoiled:
            return [right, checks.check_circuits("cpu", 400)]


def test_circuits_on_tensors_are_checked() -> None:
    require_module("torch", "pip install -c constraints.txt torch==2.13.0")
    require_module("triton", "pip install -c constraints.txt triton==3.7.1")
    right, wrong = call_interpreted(check_circuits_of_tensors)
    assert right.wrong == ""
    assert (right.speed, right.unit) == (32.0, "rows per second of 2,400 gates, packed, on the device")
    assert wrong.wrong == "Tensor of 33 rows of every gate must have the answers of the reference, got others"


def test_an_error_of_a_gpu_is_a_finding(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    torch: Any = require_module("torch", "pip install -c constraints.txt torch==2.13.0")
    from gatewise.nn.kernels import selfcheck as checks

    monkeypatch.setattr(selfcheck, "SECONDS", 0.0)
    monkeypatch.setattr(selfcheck, "MANY_ROWS", 64)
    check = checks.check_device
    monkeypatch.setattr(checks, "check_device", lambda device: check(device, width=400))
    properties = mock.Mock(major=8, minor=6, total_memory=24 * 2**30)
    properties.name = "Mock"
    cards = {"is_available": True, "device_count": 2, "get_device_name": "Mock", "get_device_properties": properties}
    for name, value in cards.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, value=value: value)
    monkeypatch.setattr(checks.cuda, "has_kernels", lambda device: device.index == 1)
    assert main(["selfcheck", "--threads", "1", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["gpus"] == [f"cuda:{i}: Mock, compute capability 8.6, 24 GB" for i in (0, 1)]
    gpu = {finding["name"]: finding["wrong"] for finding in report["findings"] if "Mock" in finding["name"]}
    assert list(gpu) == ["training, Mock", "kernels in Triton, Mock", "circuits on tensors, Mock"]
    assert all(wrong.startswith(("AssertionError: ", "RuntimeError: ")) for wrong in gpu.values()), gpu
    assert report["not_run"][-2].startswith("GPU cuda:0, Mock: kernels need compute capability 8.0 or later")


def test_it_runs_without_torch() -> None:
    code = f"""{missing("torch")}
from gatewise.cli import main
from gatewise.run import selfcheck
selfcheck.SECONDS = 0.0
print(main(["selfcheck", "--threads", "1"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert lines[-1] == "0", done.stderr
    assert any(line.startswith("not run training and GPUs: gatewise.nn needs torch, which is not") for line in lines)
