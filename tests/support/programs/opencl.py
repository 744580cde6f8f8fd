"""Exported CUDA C++ whose kernels run in OpenCL: their text with other names, and the host's code as it stands.

PoCL runs threads of a block in any order on all cores; Oclgrind interprets them and finds those that access one address
without an order between them, which a program that runs them one after the other cannot.
"""

import os
import re
import subprocess
from pathlib import Path

from support.programs.cuda import WARNINGS
from support.tools import give_up, require_tool

SUPPORT = Path(__file__).parent
FIRST_KERNEL, BEHIND_KERNELS = "/* One bit of 32 rows per thread;", "/* Blocks of 8 things"
INSTALL = "apt-get install ocl-icd-opencl-dev pocl-opencl-icd oclgrind"

CALLS = {"blockIdx": "get_group_id", "threadIdx": "get_local_id", "blockDim": "get_local_size"}
NAMES = {
    r"__global__ void": "__kernel void",
    r"__device__ const": "__constant",
    r"(?m)^const (?=int32_t \w+\[\])": "__constant ",
    r"(const \w+ |\b\w+ )\*(?=\w+[,)]|\w+ = (?:rows|counts) )": r"__global \1*",
    r"\batomicAdd\b": "atomic_add",
    r"\bconstant\b": "limit",  # a keyword there
    r"\bfalse\b": "0",
    r"\bNAN\b": "(0.0f / 0.0f)",
    **{
        rf"\b{name}\.{axis}\b": f"{call}({i})"
        for name, call in {
            "blockIdx": "get_group_id",
            "threadIdx": "get_local_id",
            "blockDim": "get_local_size",
        }.items()
        for i, axis in enumerate("xy")
    },
}
"""What is written for what in kernels."""

TYPES = "\n".join(
    f"typedef {name} {alias};"
    for name, alias in {"uint": "uint32_t", "int": "int32_t", "short": "int16_t", "uchar": "uint8_t"}.items()
)


def take_apart(source: str, header: str) -> tuple[str, str]:
    """The kernels as OpenCL and what is left for the host, from the text of a source and of its header."""
    before, _, after = source.partition("namespace {")
    tables, _, behind = after.partition(FIRST_KERNEL)
    kernels, _, host = behind.partition(BEHIND_KERNELS)
    sizes = "\n".join(re.findall(r"^(?:#define \w+_N_\w+ .*|typedef \w+ \w+_value;.*)$", header, flags=re.M))
    text = FIRST_KERNEL + kernels
    head_tables = re.search(r"(?m)^#define (?:TAU|SHARE)", tables)
    shared = tables[: head_tables.start()] if head_tables else tables
    for pattern, replacement in NAMES.items():
        text, shared = re.sub(pattern, replacement, text), re.sub(pattern, replacement, shared)
    kept = f"#define __device__ static\n{before}namespace {{{tables}{BEHIND_KERNELS}{host}"
    return f"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n{TYPES}\n{sizes}\n{shared}{text}", kept


def compile_with_opencl(package: dict[str, bytes], folder: Path, name: str = "model") -> Path:
    """Writes and compiles a package with its check; the program wants to be run in the folder."""
    compiler = require_tool("g++", "apt-get install g++")
    if not Path("/usr/include/CL/cl.h").exists():
        give_up(f"OpenCL's headers are not installed; get them with: {INSTALL}")
    kernels, host = take_apart(package[f"{name}.cu"].decode(), package[f"{name}.h"].decode())
    files = package | {f"{name}.cu": host.encode(), "cpu.h": (SUPPORT / "opencl.h").read_bytes()}
    folder.mkdir()
    for file, data in (files | {"kernels.cl": kernels.encode()}).items():
        (folder / file).write_bytes(data)
    sources = sorted(file for file in package if file.endswith(".cu"))
    command = [compiler, *WARNINGS, "-o", "program", "-x", "c++", *sources, "-lOpenCL"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "program"


def run_on_pocl(program: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program on this machine's cores."""
    if not Path("/etc/OpenCL/vendors/pocl.icd").exists():
        give_up(f"PoCL is not installed; get it with: {INSTALL}")
    environment = os.environ | {"POCL_CACHE_DIR": str(program.parent / "cache")}
    return subprocess.run([program], cwd=program.parent, env=environment, capture_output=True, text=True, timeout=300)


def run_in_oclgrind(program: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program in the interpreter, which tells of races and of wrong addresses."""
    oclgrind = require_tool("oclgrind", INSTALL)
    command = [oclgrind, "--data-races", "--check-api", program]
    return subprocess.run(command, cwd=program.parent, capture_output=True, text=True, timeout=300)
