"""C compilers: where they are looked for, and how they are run.

In: source files by name. Out: the bytes of what is compiled.
"""

import sys
from collections.abc import Mapping, Sequence

from gatewise.extras import install_command
from gatewise.tools.process import Tool, run_tool

ZIG = "python -m ziglang cc"
COMPILER = Tool("a C compiler", ("cc", "gcc", "clang", ZIG), install_command("export"), variable="CC")
WASM_COMPILER = Tool("zig, which compiles C to WebAssembly,", (ZIG, "zig cc"), install_command("export"))

PREFIX = "" if sys.platform == "win32" else "lib"
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
"""How the name of a shared library begins and ends on this machine."""

FLAGS = ("-std=c99", "-O2", "-shared", *(() if sys.platform == "win32" else ("-fPIC",)))


def build_library(files: Mapping[str, bytes], sources: Sequence[str], compiler: Sequence[str]) -> bytes:
    """Compile and link C files.

    Parameters
    ----------
    files : dict of file name to bytes
    sources : sequence of str
        Names of those that are compiled.
    compiler : sequence of str
        A command, as ``COMPILER.find()`` gives it.

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
