"""WGSL, for the GPUs of browsers and of any maker: shaders, tables, a wrapper in JavaScript, a check, and a README.

In: a model, or a circuit, whose rows then are bits. Out: a package of eight files.
Invariant: the code gives the counts, scores and answers of the model, bit for bit, on whatever a browser takes for a
GPU: shaders compute with integers only, and the head is computed by JavaScript, whose numbers are doubles. Equal models
give equal bytes. Names and labels that users gave stand in JSON only.
"""

import numpy as np

from gatewise.circuit import Circuit
from gatewise.export.javascript import ARRAYS, describe_head, write_constants
from gatewise.export.package import Package, fill_template, read_template, rename
from gatewise.export.page import describe_source, fill_page
from gatewise.export.source import Source, make_source
from gatewise.export.vectors import write_vectors
from gatewise.export.wgsl.tables import Tables, make_tables
from gatewise.model import Model

__all__ = ["to_wgsl"]

STATE_BYTES = 2**25
"""What the words of the rows that are evaluated at once may take, unless 1,024 rows take more."""

MOST_BYTES = 2**27
"""What a buffer may hold on all devices."""

MOST_WORDS = 2**15
INFINITY = {"float64": 0x7FF00000, "float32": 0x7F800000}
"""The higher word of infinity."""


def to_wgsl(model: Model | Circuit, *, name: str = "model", dtype: str | None = None) -> Package:
    """A model as WGSL with a wrapper for JavaScript and TypeScript, and a page that checks it.

    Parameters
    ----------
    model, name, dtype
        See `to_c`.

    Returns
    -------
    dict of file name to bytes
        ``name.wgsl``, ``name.bin``, ``name.mjs``, ``name.d.mts``, ``check.html``, ``check.mjs``, ``vectors.txt`` and
        ``README.md``.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> package = to_wgsl(xor, name="parity")
    >>> sorted(package)
    ['README.md', 'check.html', 'check.mjs', 'parity.bin', 'parity.d.mts', 'parity.mjs', 'parity.wgsl', 'vectors.txt']
    >>> "fn evaluate_gates(" in package["parity.wgsl"].decode()
    True
    """
    source = make_source(model, style="table", name=name, dtype=dtype)
    tables = make_tables(source)
    most_words = _count_words(source)
    words = [f"const {key} = {value};" for key, value in _write_sizes(source, tables).items()]
    constants = {
        "LAUNCHES": tables.launches,
        "MOST_WORDS": most_words,
        "N_NODES": source.netlist.n_nodes,
        **describe_head(source.head),
    }
    array = ARRAYS[source.dtype]
    value = "number" if source.circuit.n_groups == 1 else "Float64Array"
    kinds = {"Row": array, "Value": value, "Model": source.kind.title()}
    types = "\n".join(f"export type {kind} = {meaning};" for kind, meaning in kinds.items())
    fields = describe_source(source) | {"array": array, "most_rows": f"{32 * most_words:,}"}
    sizes = write_constants(source, constants)
    to_row = fill_template("wasm/rows.mjs", name, {"sizes.mjs": ""})
    texts = {
        f"{name}.wgsl": "\n".join(["// Written by gatewise.", *words, "", read_template("wgsl/model.wgsl")]),
        f"{name}.mjs": fill_template("wgsl/model.mjs", name, {"sizes.mjs": sizes, "rows.mjs": to_row}),
        f"{name}.d.mts": fill_template("wgsl/model.d.mts", name, {"kinds.mjs": types}),
        "check.mjs": fill_template("wgsl/check.mjs", name),
        "check.html": rename(read_template("wgsl/check.html"), name),
        "vectors.txt": write_vectors(source),
        "README.md": fill_page("wgsl/README.md", fields),
    }
    data = np.array(tables.words, "<u4").tobytes()
    return {f"{name}.bin": data} | {file: text.encode() for file, text in texts.items()}


def _write_sizes(source: Source, tables: Tables) -> dict[str, str]:
    """What the shaders are told: sizes, and where parts of the tables begin."""
    sizes = {
        "N_COLUMNS": source.encoder.n_columns,
        "N_BITS": source.circuit.n_inputs,
        "N_GROUPS": source.circuit.n_groups,
        "VALUE_BYTES": np.dtype(source.dtype).itemsize,
        "INFINITY": INFINITY.get(source.dtype, 0),
        **tables.starts,
    }
    return {key: f"{size}u" for key, size in sizes.items()} | {"IS_FLOAT": str(source.dtype in INFINITY).lower()}


def _count_words(source: Source) -> int:
    """Words of rows that are evaluated at a time: as many as `STATE_BYTES` hold, but no more than a buffer."""
    node_bytes, row_bytes = 4 * source.netlist.n_nodes, source.encoder.n_columns * np.dtype(source.dtype).itemsize
    count_bytes = 4 * source.circuit.n_groups
    for name, n_bytes in (("gates", node_bytes), ("columns", 32 * row_bytes), ("groups", 32 * count_bytes)):
        if n_bytes > MOST_BYTES:
            raise ValueError(
                f"model must have fewer {name} for buffers of {MOST_BYTES:,} bytes, got {n_bytes:,} bytes per 32 rows; "
                "export to CUDA, or for a smaller dtype"
            )
    limit = MOST_BYTES // max(node_bytes, 32 * row_bytes, 32 * count_bytes, 1)
    wanted = max(STATE_BYTES // max(node_bytes, 1) // 32 * 32, 32)
    return min(limit, wanted, MOST_WORDS)
