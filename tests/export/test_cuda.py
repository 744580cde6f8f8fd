"""Models as CUDA C++: packages check themselves as plain C++, and nvcc compiles them; nothing runs on a GPU."""

import re
import subprocess
from pathlib import Path

import pytest
from support.exported_models import HEADS, make_encoder, make_model, make_whole_encoder, spoil_vectors
from support.programs.cuda import SANITIZE, compile_as_cpp
from support.tools import require

from gatewise import Circuit
from gatewise.cli import main
from gatewise.export import save_package, to_cuda
from gatewise.extras import install_command
from gatewise.tools.process import Tool

NVCC = Tool("nvcc", ("nvidia/cu13/bin/nvcc", "nvcc"), install_command("cuda"))
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_120")


def run_check(package: dict[str, bytes], folder: Path) -> int:
    """Exit code of the package's own check, as C++."""
    save_package(package, folder / "out")
    sources = [file for file in package if file.endswith(".cu")]
    program = compile_as_cpp(folder / "out", sources, *SANITIZE)
    return subprocess.run([program], cwd=folder / "out", timeout=300).returncode


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("head", HEADS)
def test_packages_check_themselves(head: str, dtype: str, tmp_path: Path) -> None:
    assert run_check(to_cuda(make_model(make_encoder(), HEADS[head]), dtype=dtype), tmp_path) == 0


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
@pytest.mark.filterwarnings("ignore:columns must be compared")
def test_rows_of_integers(dtype: str, tmp_path: Path) -> None:
    package = to_cuda(make_model(make_whole_encoder(), HEADS["classes"]), dtype=dtype)
    assert run_check(package, tmp_path) == 0


@pytest.mark.parametrize(("matrix", "code"), [("counts", 1), ("scores", 2), ("proba", 2), ("classes", 2), ("bits", 3)])
def test_the_check_finds_wrong_answers(matrix: str, code: int, tmp_path: Path) -> None:
    package = to_cuda(make_model(make_encoder(), HEADS["classes"]))
    assert run_check(spoil_vectors(package, matrix), tmp_path) == code


def test_chunks_of_rows(tmp_path: Path) -> None:
    package = to_cuda(make_model(make_encoder(), HEADS["classes"]))
    text = package["model.cu"].decode()
    changed = re.sub(r"#define MAX_WORDS \d+", "#define MAX_WORDS 1", text)
    assert changed != text
    assert run_check(package | {"model.cu": changed.encode()}, tmp_path) == 0


# Counts what is allocated, as part of the source; fails where `room` is too small.
COUNTING = """
#include <atomic>
#include <stdio.h>
#include <thread>
#include <vector>
#include "cpu.h"

static std::atomic<int> n_calls, n_live;
static size_t room = 1 << 30;

static cudaError_t allocate(void **pointer, size_t size) {
  ++n_calls;
  if (size > room) return cudaErrorMemoryAllocation;
  ++n_live;
  return cudaMalloc(pointer, size);
}

static cudaError_t release(void *pointer) {
  if (pointer) --n_live;
  return cudaFree(pointer);
}

#define cudaMalloc allocate
#define cudaFree release
#include "model.cu"

static void expect(bool is_true, int line) {
  if (is_true) return;
  fprintf(stderr, "line %d: %d calls, %d live\\n", line, (int)n_calls, (int)n_live);
  exit(1);
}
#define EXPECT(condition) expect(condition, __LINE__)

/* Counts n rows, all but the first of which are empty. */
static int count(int64_t n) {
  std::vector<model_value> rows((size_t)n * MODEL_N_COLUMNS + 1);
  std::vector<int32_t> counts((size_t)n * MODEL_N_GROUPS + 1, -1);
  rows[0] = 1;
  const int error = model_counts_rows(rows.data(), n, counts.data());
  if (!error)
    for (int64_t row = 0; row < n; ++row) EXPECT(counts[(size_t)row] == (row == 0));
  return error;
}
"""
XOR = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])


def run_counting(main: str, folder: Path, *flags: str) -> None:
    """Runs a program that has the export of `XOR` and counts its allocations."""
    save_package(to_cuda(XOR), folder / "out")
    (folder / "out" / "main.cu").write_text(f"{COUNTING}\nint main() {{\n{main}\n}}\n")
    done = subprocess.run([compile_as_cpp(folder / "out", ["main.cu"], *flags)], stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_memory_is_kept_between_calls(tmp_path: Path) -> None:
    run_counting(
        """
        for (int64_t n : {1000, 1000, 1, 0, 999}) EXPECT(count(n) == 0 && n_calls == 1 && n_live == 1);
        EXPECT(count(5000) == 0 && n_calls == 2 && n_live == 1);  // more rows
        EXPECT(count(5000) == 0 && n_calls == 2);
        EXPECT(model_free() == 0 && n_live == 0 && model_free() == 0);
        EXPECT(count(10) == 0 && n_calls == 3 && n_live == 1);
        room = 0;
        EXPECT(count(1000) == cudaErrorMemoryAllocation && n_live == 0);
        EXPECT(count(1000) == cudaErrorMemoryAllocation);
        room = 1 << 30;
        EXPECT(count(1000) == 0 && n_live == 1);
        return model_free();
        """,
        tmp_path,
        *SANITIZE,
    )


def test_threads_have_memory_of_their_own(tmp_path: Path) -> None:
    run_counting(
        """
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
          threads.emplace_back([i] {
            for (int n = 1; n < 40; ++n) {
              EXPECT(count(37 * n) == 0);
              if (i == 0 && n % 10 == 0) EXPECT(model_free() == 0);
            }
          });
        for (std::thread &each : threads) each.join();
        EXPECT(n_live <= 4 && model_free() == 0 && n_live == 0);
        """,
        tmp_path,
        "-g",
        "-fsanitize=thread",
    )


@pytest.mark.slow
@pytest.mark.parametrize("head", ["classes", "logit"])
def test_nvcc_compiles_for_several_architectures(head: str, tmp_path: Path) -> None:
    nvcc = require(NVCC)
    save_package(to_cuda(make_model(make_encoder(), HEADS[head])), tmp_path / "out")
    targets = [f"-gencode=arch=compute_{name[3:]},code={name}" for name in ARCHITECTURES]
    for source in ("model.cu", "check.cu"):
        command = [*nvcc, "-std=c++17", "-O2", "-Werror", "all-warnings", *targets, "-c", source]
        done = subprocess.run(command, cwd=tmp_path / "out", capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_same_model_gives_the_same_bytes() -> None:
    first, second = (to_cuda(make_model(make_encoder(), HEADS["logit"])) for _ in range(2))
    assert first == second


def test_it_says_what_is_not_tested() -> None:
    readme = to_cuda(make_model(make_encoder(), HEADS["classes"]))["README.md"].decode()
    assert "They do not run it on a GPU" in readme


def test_names_of_other_files_are_refused() -> None:
    with pytest.raises(ValueError, match=r"name must be none of check, cpu, .* which other files have, got 'cpu'"):
        to_cuda(make_model(make_encoder(), HEADS["classes"]), name="cpu")


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = make_model(make_encoder(), HEADS["classes"])
    model.save("m.gw")
    assert main(["export", "m.gw", "--to", "cuda", "-o", "out", "--name", "m"]) == 0
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == to_cuda(model, name="m")
