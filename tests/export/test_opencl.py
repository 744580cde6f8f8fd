"""Exported CUDA as OpenCL: the same kernels on many cores at once, and under an interpreter that finds races."""

import re
from pathlib import Path

import pytest
from support.exported_models import HEADS, make_encoder, make_model, make_whole_encoder
from support.programs.opencl import compile_with_opencl, run_in_oclgrind, run_on_pocl

from gatewise import Encoder
from gatewise.export import to_cuda

LEVELS = r"(?s)  for \(int32_t level = 0; level < N_LEVELS; \+\+level\) \{.*?\n  \}\n"
ALL_AT_ONCE = """
  const int32_t n = levels[N_LEVELS];
  LAUNCH(evaluate_level, cover(n, n_words), block, stream, 0, n, n_words, state);
"""
ATOMIC = r"atomicAdd\((.*), (slices.*)\);"


@pytest.mark.filterwarnings("ignore:columns must be compared")
@pytest.mark.parametrize(
    ("head", "encoder", "dtype"),
    [
        ("classes", make_encoder(), "float64"),
        ("logit", make_encoder(), "float32"),
        ("affine", make_whole_encoder(), "uint8"),
    ],
)
def test_packages_check_themselves(head: str, encoder: Encoder, dtype: str, tmp_path: Path) -> None:
    package = to_cuda(make_model(encoder, HEADS[head]), dtype=dtype)
    done = run_on_pocl(compile_with_opencl(package, tmp_path / "out"))
    assert (done.returncode, done.stderr) == (0, "")


def change(package: dict[str, bytes], pattern: str, replacement: str) -> dict[str, bytes]:
    """The package with another source."""
    text, n_changes = re.subn(pattern, replacement, package["model.cu"].decode())
    assert n_changes == 1
    return package | {"model.cu": text.encode()}


def test_threads_do_not_race(tmp_path: Path) -> None:
    package = to_cuda(make_model(make_encoder(), HEADS["classes"]))
    done = run_in_oclgrind(compile_with_opencl(package, tmp_path / "out"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("pattern", "replacement", "kernel"),
    [(LEVELS, ALL_AT_ONCE, "evaluate_level"), (ATOMIC, r"*(\1) += \2;", "count_slices")],
    ids=["all levels in one launch", "sums that are not atomic"],
)
def test_races_are_found(pattern: str, replacement: str, kernel: str, tmp_path: Path) -> None:
    package = change(to_cuda(make_model(make_encoder(), HEADS["classes"])), pattern, replacement)
    done = run_in_oclgrind(compile_with_opencl(package, tmp_path / "out"))
    assert re.search(rf"data race at global memory address .*\n\tKernel: {kernel}\n", done.stderr)
