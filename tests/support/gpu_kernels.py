"""Kernels compiled for GPUs that are not there: registers, spills and loads, from the compiler of Triton's package."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import get_ptxas, sm_arch_from_capability
from triton.compiler import ASTSource


class Compiled(NamedTuple):
    """What a kernel needs of a GPU, and its text."""

    registers: int
    spilled: int
    ptx: str

    @property
    def wide_loads(self) -> int:
        """Loads of 128 bits."""
        return len(re.findall(r"ld\.global\S*\.v4\.b32", self.ptx))


def compile_kernel(
    kernel: Any, types: Mapping[str, str], constants: Mapping[str, Any], capability: int, folder: Path
) -> Compiled:
    """A kernel for a compute capability, such as 80.

    Parameters
    ----------
    types : parameter to type, such as "*fp32" and "i32"
        Pointers are those of torch's memory; with "!" at the end, so is a number: a multiple of 16.
    """
    names = kernel.arg_names
    signature = {name: "constexpr" if name in constants else types[name].rstrip("!") for name in names}
    aligned = [i for i, name in enumerate(names) if name not in constants and re.search(r"^\*|!$", types[name])]
    source = ASTSource(kernel, signature, dict(constants), {(i,): [["tt.divisibility", 16]] for i in aligned})
    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = str(folder / "cache")
        ptx: str = triton.compile(source, target=GPUTarget("cuda", capability, 32)).asm["ptx"]
    (folder / "kernel.ptx").write_text(ptx)
    name = f"--gpu-name={sm_arch_from_capability(capability)}"
    command = [get_ptxas(capability).path, "-v", name, folder / "kernel.ptx", "-o", folder / "kernel.cubin"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    registers, spilled = re.findall(r"Used (\d+) registers", said), re.findall(r"(\d+) bytes spill stores", said)
    return Compiled(int(registers[0]), int(spilled[0]), ptx)
