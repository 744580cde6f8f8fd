"""C99: a header, a source, a program that checks them, and a README, from a model or a circuit.

In: a model, or a circuit, whose rows then are bits. Out: a package of five files.
Invariant: the code gives the counts, scores and answers of the model, bit for bit, for every row of the dtype; it
includes nothing but stdint.h, and equal models give equal bytes.
"""

from gatewise.circuit import Circuit
from gatewise.export.c.constants import write_head_tables, write_sizes, write_strings
from gatewise.export.c.table import write_table
from gatewise.export.c.unrolled import write_unrolled
from gatewise.export.package import Package, read_template, warn_large, write_array
from gatewise.export.page import describe_source, fill_page
from gatewise.export.source import Source, Style, make_source, take_apart
from gatewise.export.vectors import write_vectors
from gatewise.model import Model

__all__ = ["to_c", "write_code"]


def to_c(
    model: Model | Circuit, *, style: Style = "unrolled", name: str = "model", dtype: str | None = None
) -> Package:
    """A model as C99 without dependencies, with a program that checks it.

    Parameters
    ----------
    model : Model or Circuit
        Of a circuit, columns are its inputs, true unless they are 0.
    style : {"unrolled", "table"}
        Straight code, which is fastest, or a table and a loop, which is smallest.
    name : str
        What the files and all names start with.
    dtype : {"float64", "float32", "int32", "int16", "uint8"}, optional
        Type of the numbers of a row; float64 by default, uint8 for a circuit. A warning names columns that are compared
        with numbers it cannot hold.

    Returns
    -------
    dict of file name to bytes
        ``name.h``, ``name.c``, ``check.c``, ``vectors.txt`` and ``README.md``.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> package = to_c(xor, name="parity")
    >>> sorted(package)
    ['README.md', 'check.c', 'parity.c', 'parity.h', 'vectors.txt']
    >>> "w[0] ^ w[1]" in package["parity.c"].decode()
    True
    """
    source = make_source(model, style=style, name=name, dtype=dtype)
    if style == "unrolled":
        warn_large(take_apart(model)[0].n_gates, "style='table' is a tenth of that")
    files = write_code(source)
    files["check.c"] = source.fill("c/check.c")
    files["vectors.txt"] = write_vectors(source)
    files["README.md"] = fill_page("c/README.md", describe_source(source))
    return {file: text.encode() for file, text in files.items()}


def write_code(source: Source, encode_rows: str = "c/encode_rows.h", tables: str = "") -> dict[str, str]:
    """The header and the source, by file name.

    Parameters
    ----------
    source : Source
    encode_rows : str
        The template of the function that encodes a block of rows.
    tables : str
        What it needs.
    """
    body = (write_table if source.style == "table" else write_unrolled)(source)
    groups = source.netlist.groups
    most = max((group.base + len(group.added) for group in groups), default=0)
    sizes = {
        "N_WORDS": max(body.n_words, 1),
        "N_COUNTED": max(source.n_counted, 1),
        "N_PLANES": max(most.bit_length(), 3),
        "MODEL_VALUE_IS_DOUBLE": int(source.dtype == "float64"),
    }
    listed = (f"{{{group.base}, {len(group.added)}, {len(group.subtracted)}}}" for group in groups)
    parts = [
        *(f"#define {name} {size}" for name, size in sizes.items()),
        f"#define IS_MISSING(x) {'((x) != (x))' if source.dtype[0] == 'f' else '0'}",
        "\n/* A group counts [0] + true ones of the next [1] words of y - true ones of the [2] words after. */",
        write_array("static const int32_t groups[][3]", listed, "{0, 0, 0}"),
        body.tables + write_head_tables(source) + write_strings(source) + tables,
    ]
    code = source.fill(
        "c/model.c",
        tables="\n".join(parts),
        style=body.code,
        encode_rows=read_template(encode_rows),
        score=read_template("c/score.h"),
    )
    return {f"{source.name}.h": source.fill("c/model.h", sizes=write_sizes(source)), f"{source.name}.c": code}
