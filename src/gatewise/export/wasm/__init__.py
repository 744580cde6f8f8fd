"""WebAssembly with vectors of 128 bits: a module, its wrapper in JavaScript with types, a check, and a README.

In: a model, or a circuit, whose rows then are bits. Out: a package of five files.
Invariant: the module gives the counts, scores and answers of the model, bit for bit; it imports nothing, and equal
models give equal bytes with equal compilers.
"""

from gatewise.circuit import Circuit
from gatewise.export.c import make_source, write_code
from gatewise.export.c.source import Source, Style
from gatewise.export.compilers import compile_files, find_wasm_compiler
from gatewise.export.emit import Package
from gatewise.export.questions import ask
from gatewise.export.wasm.batch import list_functions, write_batch
from gatewise.export.wasm.check import write_check
from gatewise.export.wasm.readme import write_readme
from gatewise.export.wasm.wrapper import write_wrapper
from gatewise.model import Model

__all__ = ["to_wasm"]

LANES = {"unrolled": 128, "table": 512}
"""Rows of a block, by style: reading a table takes longer than working on four vectors."""

FLAGS = (
    "-target", "wasm32-freestanding", "-mcpu=generic+simd128+bulk_memory", "-std=c99", "-O2", "-g0", "-nostdlib",
    "-Wl,--no-entry", "-Wl,--strip-all", "-Wl,--export=__heap_base", "-Wl,-z,stack-size=65536",
)  # fmt: skip


def to_wasm(
    model: Model | Circuit, *, style: Style = "unrolled", name: str = "model", dtype: str | None = None
) -> Package:
    """A model as WebAssembly, with a wrapper for JavaScript and TypeScript, and a program that checks it.

    Parameters
    ----------
    model : Model or Circuit
        Of a circuit, columns are its inputs, true unless they are 0.
    style : {"unrolled", "table"}
        Straight code, which is fastest, or a table and a loop, which is smallest.
    name : str
        What the files and the functions of the module start with.
    dtype : {"float64", "float32", "int32", "int16", "uint8"}, optional
        Type of the numbers of a row; float64 by default, uint8 for a circuit.

    Returns
    -------
    dict of file name to bytes
        ``name.wasm``, ``name.mjs``, ``name.d.mts``, ``check.mjs`` and ``README.md``.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> package = to_wasm(xor, name="parity")
    >>> sorted(package)
    ['README.md', 'check.mjs', 'parity.d.mts', 'parity.mjs', 'parity.wasm']
    >>> package["parity.wasm"][:4]
    b'\\x00asm'
    """
    source = make_source(model, style=style, name=name, dtype=dtype)
    lanes = LANES[style]
    module = build_module(source, lanes)
    wrapper = write_wrapper(source, lanes)
    texts = {
        f"{name}.mjs": wrapper.code,
        f"{name}.d.mts": wrapper.types,
        "check.mjs": write_check(source, lanes),
        "README.md": write_readme(source, lanes, len(module)),
    }
    return {f"{name}.wasm": module} | {file: text.encode() for file, text in texts.items()}


def build_module(source: Source, lanes: int) -> bytes:
    """The module, whose blocks have so many rows."""
    code = write_code(source)
    functions = list_functions(source)
    batch = write_batch(source, ask(source.encoder, source.dtype))
    files = {f"{source.name}.h": code.header, f"{source.name}.c": code.source, "batch.c": batch}
    flags = [*FLAGS, f"-D{source.name.upper()}_LANES={lanes}", *(f"-Wl,--export={name}" for name in functions)]
    data = {name: text.encode() for name, text in files.items()}
    return compile_files(data, [*find_wasm_compiler(), *flags, "batch.c"], "module.wasm")
