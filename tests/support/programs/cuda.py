"""Exported CUDA C++, compiled as plain C++ and run on this machine."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from support.batches import Answers, Case, read_answers, write_batches
from support.tools import require_tool

from gatewise.export import to_cuda

WARNINGS = ("-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-variable")
SANITIZE = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

DRIVER = """
#include <stdio.h>
#include <vector>

static FILE *in, *out;

template <typename Rows, typename Bits>
static int run(size_t n_bits, size_t n_groups, Rows count_rows, Bits count_bits) {
  int32_t n;
  while (fread(&n, 4, 1, in) == 1 && n >= 0) {
    const size_t n_rows = (size_t)n, n_words = (n_rows + 31) / 32;
    std::vector<uint8_t> rows(n_rows * n_bits + 1);
    std::vector<uint32_t> bits(n_words * n_bits + 1);
    std::vector<int32_t> counts(n_rows * n_groups + 1);
    if (fread(rows.data(), 1, n_rows * n_bits, in) != n_rows * n_bits) return 1;
    if (count_rows(rows.data(), n, counts.data())) return 1;
    fwrite(counts.data(), 4, n_rows * n_groups, out);
    for (size_t row = 0; row < n_rows; ++row)
      for (size_t i = 0; i < n_bits; ++i)
        bits[i * n_words + row / 32] |= (uint32_t)rows[row * n_bits + i] << row % 32;
    if (count_bits(bits.data(), n, counts.data())) return 1;
    fwrite(counts.data(), 4, n_rows * n_groups, out);
  }
  return 0;
}

int main() {
  in = fopen("in.bin", "rb");
  out = fopen("out.bin", "wb");
  return !in || !out || CALLS || fclose(out);
}
"""


def compile_as_cpp(folder: Path, sources: Sequence[str], *flags: str) -> str:
    """Compile CUDA C++ files of a folder as C++, warnings being errors; gives the path of the program."""
    compiler = require_tool("g++", "apt-get install g++")
    command = [compiler, *WARNINGS, *flags, "-o", "program", "-x", "c++", *sources]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return str(folder / "program")


def count_by_cuda(folder: Path, cases: Sequence[Case]) -> Answers:
    """Counts of each batch of rows of each circuit, from rows and from packed bits, by one program for all."""
    names = [f"c{i}" for i in range(len(cases))]
    for name, (circuit, _) in zip(names, cases, strict=True):
        for file, data in to_cuda(circuit, name=name).items():
            (folder / file).write_bytes(data)
    calls = (
        f"run({name.upper()}_N_BITS, {name.upper()}_N_GROUPS, {name}_counts_rows, {name}_counts_bits)" for name in names
    )
    includes = "".join(f'#include "{name}.h"\n' for name in names)
    (folder / "driver.cu").write_text(includes + DRIVER.replace("CALLS", " || ".join(calls)))
    program = compile_as_cpp(folder, ["driver.cu", *(f"{name}.cu" for name in names)], *SANITIZE)
    write_batches(folder, cases)
    done = subprocess.run([program], cwd=folder, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return read_answers(folder, cases)
