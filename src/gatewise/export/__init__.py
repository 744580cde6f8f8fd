"""Models in other languages: the same bits everywhere, encoder and head included.

In: a `Model`, or a `Circuit`. Out: a file's content, or a package, files by name, that `save_package` writes.
Invariant: the same model gives the same bytes.
"""

from typing import Any

from gatewise.export.c import to_c
from gatewise.export.c.library import Library, load_library, to_lib
from gatewise.export.cuda import to_cuda
from gatewise.export.logic import to_aiger, to_blif
from gatewise.export.package import Package, save_package
from gatewise.export.verilog import to_verilog
from gatewise.export.wasm import to_wasm
from gatewise.export.wgsl import to_wgsl

__all__ = [
    "Library",
    "Package",
    "load_library",
    "save_package",
    "to_aiger",
    "to_blif",
    "to_c",
    "to_cuda",
    "to_lib",
    "to_onnx",
    "to_verilog",
    "to_wasm",
    "to_wgsl",
]


def __getattr__(name: str) -> Any:
    """`to_onnx`, imported when it is first asked for, because it needs onnx."""
    if name == "to_onnx":
        from gatewise.export.onnx import to_onnx

        return to_onnx
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
