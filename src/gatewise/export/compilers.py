"""C compilers: which one there is, and how it is run.

In: source files by name. Out: the bytes of what is compiled.
Invariant: the compiler that is named by the user comes first.
"""

import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence

from gatewise.toolchain import ToolError, run_tool

PROGRAMS = ("cc", "gcc", "clang")
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
"""How the name of a shared library ends on this machine."""

ZIG = (sys.executable, "-m", "ziglang", "cc")
FLAGS = ("-std=c99", "-O2", "-shared", *(() if sys.platform == "win32" else ("-fPIC",)))


def find_compiler() -> list[str]:
    """The command of a C compiler: what the variable CC says, else cc, gcc, clang or zig, the first that is there."""
    if os.environ.get("CC"):
        command = shlex.split(os.environ["CC"])
        found = shutil.which(command[0])
        if found is None:
            raise ToolError(f"CC must name a C compiler that is installed, got {os.environ['CC']!r}")
        return [found, *command[1:]]
    for program in PROGRAMS:
        found = shutil.which(program)
        if found is not None:
            return [found]
    if _has_zig():
        return list(ZIG)
    raise ToolError(
        f"a C compiler must be installed, found none of {', '.join(PROGRAMS)} on the PATH, no zig, and no variable CC; "
        "get one by: pip install 'gatewise[export]'"
    )


def find_wasm_compiler() -> list[str]:
    """The command of a C compiler that makes WebAssembly: zig, of its Python package or on the PATH."""
    if _has_zig():
        return list(ZIG)
    found = shutil.which("zig")
    if found is None:
        raise ToolError(
            "zig must be installed to make WebAssembly, found no Python package ziglang and no zig on the PATH; "
            "get it by: pip install 'gatewise[export]'"
        )
    return [found, "cc"]


def build_library(files: Mapping[str, bytes], sources: Sequence[str], compiler: Sequence[str]) -> bytes:
    """Compile and link C files.

    Parameters
    ----------
    files : dict of file name to bytes
    sources : names of those that are compiled
    compiler : command, see `find_compiler`

    Returns
    -------
    bytes
        The content of a shared library.
    """
    return compile_files(files, [*compiler, *FLAGS, *sources], f"library{SUFFIX}")


def compile_files(files: Mapping[str, bytes], command: Sequence[str], output: str) -> bytes:
    """The file that a compiler, its flags and the names of sources make, in a folder of their own."""
    _, made = run_tool([*command, "-o", output], files, output)
    return made


def _has_zig() -> bool:
    return importlib.util.find_spec("ziglang") is not None
