"""Models in other languages: the same bits everywhere, encoder and head included.

In: a `Model`, or a `Circuit`. Out: packages, files by name, that `save_package` writes.
Invariant: the same model gives the same bytes, and each package checks itself against the reference evaluator.
"""

from gatewise.export.c import to_c
from gatewise.export.cuda import to_cuda
from gatewise.export.emit import Package, save_package
from gatewise.export.library import Library, load_library, to_lib
from gatewise.export.wasm import to_wasm

__all__ = ["Library", "Package", "load_library", "save_package", "to_c", "to_cuda", "to_lib", "to_wasm"]
