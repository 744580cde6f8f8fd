"""C programs that evaluate exported circuits, for this machine and for emulated ones."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from support.batches import Answers, Case, read_answers, write_batches
from support.tools import require_module, require_tool

from gatewise.export import to_c

WARNINGS = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")

# A vector table, which is all that newlib lacks to start: the top of the stack, and where to begin.
START = """
extern void _start(void);
__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {(void (*)(void))0x400000, _start};
"""

# Reads rows of bits and writes counts twice: those of single rows, and those of many, which must be those of blocks.
DRIVER = """
#include <stdio.h>
#include <string.h>

static FILE *in, *out;

static uint8_t rows[1 << 20];
static int32_t counts[1 << 16], again[1 << 16];

#define DEFINE_RUN(name, NAME)                                                                     \\
  static int run_##name(void) {                                                                    \\
    static name##_word bits[NAME##_N_BITS + 1];                                                    \\
    const name##_word zero = {0};                                                                  \\
    int32_t n, first, lane, i;                                                                     \\
    while (fread(&n, 4, 1, in) == 1 && n >= 0) {                                                   \\
      if (NAME##_N_BITS && fread(rows, NAME##_N_BITS, (size_t)n, in) != (size_t)n) return 1;       \\
      for (i = 0; i < n; ++i) name##_counts(rows + i * NAME##_N_BITS, counts + i * NAME##_N_GROUPS); \\
      fwrite(counts, 4, (size_t)n * NAME##_N_GROUPS, out);                                         \\
      name##_counts_rows(rows, n, counts);                                                         \\
      fwrite(counts, 4, (size_t)n * NAME##_N_GROUPS, out);                                         \\
      for (first = 0; first < n; first += NAME##_LANES) {                                          \\
        const int32_t n_lanes = n - first < NAME##_LANES ? n - first : NAME##_LANES;               \\
        for (i = 0; i < NAME##_N_BITS; ++i) {                                                      \\
          bits[i] = zero;                                                                          \\
          for (lane = 0; lane < n_lanes; ++lane)                                                   \\
            if (rows[(first + lane) * NAME##_N_BITS + i]) NAME##_SET_LANE(bits[i], lane);          \\
        }                                                                                          \\
        name##_counts_blocks(bits, n_lanes, again);                                                \\
        if (memcmp(again, counts + first * NAME##_N_GROUPS, 4u * NAME##_N_GROUPS * (size_t)n_lanes)) return 1; \\
      }                                                                                            \\
    }                                                                                              \\
    return 0;                                                                                      \\
  }
"""


MAIN = """
int main(void) {
  in = fopen("in.bin", "rb");
  out = fopen("out.bin", "wb");
  return !in || !out || CALLS || fclose(out);
}
"""


@dataclass(frozen=True)
class Machine:
    """A compiler and what runs its programs."""

    compiler: tuple[str, ...]
    emulator: tuple[str, ...] = ()
    start: bool = False
    """Whether programs need code to start with."""


def find_machine(name: str) -> Machine:
    """A compiler by name; the test is skipped without it."""
    if name == "zig":
        require_module("ziglang", "pip install 'gatewise[export]'")
        return Machine((sys.executable, "-m", "ziglang", "cc"))
    if name == "sanitized gcc":
        return Machine(
            (*find_machine("gcc").compiler, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
        )
    if name == "aarch64":
        compiler = require_tool("aarch64-linux-gnu-gcc", "apt-get install gcc-aarch64-linux-gnu")
        return Machine((compiler, "-static"), (require_tool("qemu-aarch64", "apt-get install qemu-user"),))
    if name == "cortex-m3":
        packages = "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"
        compiler = require_tool("arm-none-eabi-gcc", packages)
        emulator = require_tool("qemu-system-arm", packages)
        flags = ("-mcpu=cortex-m3", "-mthumb", "--specs=rdimon.specs", "-Wl,--section-start=.vectors=0")
        board = ("-M", "mps2-an385", "-display", "none", "-monitor", "none", "-serial", "none")
        return Machine((compiler, *flags), (emulator, *board, "-semihosting", "-kernel"), start=True)
    return Machine((require_tool(name, f"apt-get install {name}"),))


def compile_program(machine: Machine, folder: Path, sources: Sequence[str], *flags: str) -> list[str]:
    """Compile C files of a folder, warnings being errors; gives the command that runs the program."""
    if machine.start:
        (folder / "start.c").write_text(START)
        sources = ["start.c", *sources]
    command = [*machine.compiler, *WARNINGS, *flags, "-o", "program", *sources]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [*machine.emulator, str(folder / "program")]


def count_by_c(machine: Machine, folder: Path, cases: Sequence[Case], style: str, lanes: int) -> Answers:
    """Counts of each batch of rows of each circuit, of single rows and of many, by one program for all."""
    names = [f"c{i}" for i in range(len(cases))]
    for name, (circuit, _) in zip(names, cases, strict=True):
        for file, data in to_c(circuit, style=style, name=name).items():
            (folder / file).write_bytes(data)
    includes = "".join(f'#include "{name}.h"\n' for name in names)
    runs = "".join(f"DEFINE_RUN({name}, {name.upper()})\n" for name in names)
    calls = " || ".join(f"run_{name}()" for name in names)
    (folder / "driver.c").write_text(f"{includes}{DRIVER}{runs}{MAIN.replace('CALLS', calls)}")
    flags = [f"-D{name.upper()}_LANES={lanes}" for name in names]
    command = compile_program(machine, folder, ["driver.c", *(f"{name}.c" for name in names)], "-O1", *flags)
    write_batches(folder, cases)
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return read_answers(folder, cases)
