"""WebAssembly with vectors of 128 bits: a module, its wrapper in JavaScript with types, a check, and a README.

In: a model, or a circuit, whose rows then are bits. Out: a package of six files.
Invariant: the module gives the counts, scores and answers of the model, bit for bit; it imports nothing, and equal
models give equal bytes with equal compilers. Names and labels that users gave stand in JSON only.
"""

from itertools import accumulate

from gatewise.circuit import Circuit
from gatewise.export.c import write_code
from gatewise.export.javascript import ARRAYS, write_constants
from gatewise.export.package import Package, fill_template, format_number, write_array
from gatewise.export.page import describe_source, fill_page
from gatewise.export.source import Source, Style, make_source
from gatewise.export.vectors import write_vectors
from gatewise.model import Model
from gatewise.tools.compilers import WASM_COMPILER, compile_files

__all__ = ["to_wasm"]

LANES = {"unrolled": 128, "table": 512}
"""Rows of a block, by style: reading a table takes longer than working on four vectors."""

VALUE_SIZES = {"float64": 8, "float32": 4, "int32": 4, "int16": 2, "uint8": 1}
FLAGS = (
    "-target", "wasm32-freestanding", "-mcpu=generic+simd128+bulk_memory", "-std=c99", "-O2", "-g0", "-nostdlib",
    "-Wl,--no-entry", "-Wl,--strip-all", "-Wl,--export=__heap_base", "-Wl,-z,stack-size=65536",
)  # fmt: skip
FUNCTIONS = {
    "circuit": ("counts_rows", "counts_blocks"),
    "regression": ("counts_rows", "counts_blocks", "scores_rows", "predict_rows"),
    "classifier": ("counts_rows", "counts_blocks", "scores_rows", "proba_rows", "predict_rows", "predict_blocks"),
}
"""What a module exports, beside its memory and where free memory starts."""


def to_wasm(
    model: Model | Circuit, *, style: Style = "unrolled", name: str = "model", dtype: str | None = None
) -> Package:
    """A model as WebAssembly, with a wrapper for JavaScript and TypeScript, and a program that checks it.

    Parameters
    ----------
    model, style, name, dtype
        See `to_c`.

    Returns
    -------
    dict of file name to bytes
        ``name.wasm``, ``name.mjs``, ``name.d.mts``, ``check.mjs``, ``vectors.txt`` and ``README.md``.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> package = to_wasm(xor, name="parity")
    >>> sorted(package)
    ['README.md', 'check.mjs', 'parity.d.mts', 'parity.mjs', 'parity.wasm', 'vectors.txt']
    >>> package["parity.wasm"][:4]
    b'\\x00asm'
    """
    source = make_source(model, style=style, name=name, dtype=dtype)
    module = build_module(source)
    array = ARRAYS[source.dtype]
    value = "number" if source.circuit.n_groups == 1 else "Float64Array"
    kinds = {"Row": array, "Value": value, "Model": source.kind.title()}
    types = "\n".join(f"export type {kind} = {meaning};" for kind, meaning in kinds.items())
    exports = (f"| `{name}_{each}` | {each.split('_')[1]}, n, result |" for each in FUNCTIONS[source.kind])
    fields = describe_source(source) | {"size": len(module), "array": array, "exports": "\n".join(exports)}
    fields |= {"lanes": LANES[style], "lane_bytes": LANES[style] // 8}
    sizes = write_constants(source, {"LANES": LANES[style]})
    to_row = fill_template("wasm/rows.mjs", name, {"sizes.mjs": ""})
    texts = {
        f"{name}.mjs": fill_template("wasm/model.mjs", name, {"sizes.mjs": sizes, "rows.mjs": to_row}),
        f"{name}.d.mts": fill_template("wasm/model.d.mts", name, {"kinds.mjs": types}),
        "check.mjs": fill_template("wasm/check.mjs", name),
        "vectors.txt": write_vectors(source),
        "README.md": fill_page("wasm/README.md", fields),
    }
    return {f"{name}.wasm": module} | {file: text.encode() for file, text in texts.items()}


def build_module(source: Source) -> bytes:
    """The module."""
    bits = [asked.list_bits() for asked in source.asked]
    questions = (f"{{{kind}, {format_number(constant, source.dtype)}}}" for own in bits for kind, constant in own)
    first_bits = accumulate(map(len, bits), initial=0)
    tables = [
        f"#define MODEL_VALUE_SIZE {VALUE_SIZES[source.dtype]}",
        "struct question {\n  int32_t kind;\n  model_value constant;\n};",
        write_array("static const struct question asked[]", questions, "{0, 0}"),
        write_array("static const int32_t first_bit[]", map(str, first_bits)),
    ]
    code = write_code(source, "wasm/encode_rows.h", "\n".join(tables))
    flags = [f"-D{source.name.upper()}_LANES={LANES[source.style]}", f"-D{source.name.upper()}_STORAGE=static"]
    flags += [f"-Wl,--export={source.name}_{function}" for function in FUNCTIONS[source.kind]]
    data = {name: text.encode() for name, text in code.items()}
    return compile_files(data, [*WASM_COMPILER.find(), *FLAGS, *flags, f"{source.name}.c"], "module.wasm")
