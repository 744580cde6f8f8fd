"""C99: a header, a source, a program that checks them, and a README, from a model or a circuit.

In: a model, or a circuit, whose rows then are bits. Out: a package of four files.
Invariant: the code gives the counts, scores and answers of the model, bit for bit, for every row of the dtype; it
includes nothing but stdint.h, and equal models give equal bytes.
"""

from dataclasses import dataclass

import numpy as np

from gatewise.circuit import Circuit
from gatewise.encode import Encoder, Numeric
from gatewise.export.c.check import write_check
from gatewise.export.c.head import write_head
from gatewise.export.c.readme import write_readme
from gatewise.export.c.source import Source, Style, format_constant, write_header, write_source
from gatewise.export.c.table import sort_nodes, write_table
from gatewise.export.c.unrolled import write_unrolled
from gatewise.export.emit import Package
from gatewise.export.lower import lower
from gatewise.export.names import check_name
from gatewise.export.questions import ask
from gatewise.model import Model

__all__ = ["make_source", "to_c", "write_code"]

RESERVED = ("check", "stdint")


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
        Type of the numbers of a row; float64 by default, uint8 for a circuit.

    Returns
    -------
    dict of file name to bytes
        ``name.h``, ``name.c``, ``check.c`` and ``README.md``.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> package = to_c(xor, name="parity")
    >>> sorted(package)
    ['README.md', 'check.c', 'parity.c', 'parity.h']
    >>> "w[0] ^ w[1]" in package["parity.c"].decode()
    True
    """
    source = make_source(model, style=style, name=name, dtype=dtype)
    code = write_code(source)
    files = {
        f"{name}.h": code.header,
        f"{name}.c": code.source,
        "check.c": write_check(source),
        "README.md": write_readme(source, code.n_words),
    }
    return {file: text.encode() for file, text in files.items()}


def make_source(model: Model | Circuit, *, style: Style, name: str, dtype: str | None) -> Source:
    """What is exported, from the arguments of `to_c`."""
    if check_name(name) in RESERVED:
        raise ValueError(f"name must be none of {', '.join(RESERVED)}, which other files have, got {name!r}")
    if style not in ("unrolled", "table"):
        raise ValueError(f"style must be unrolled or table, got {style!r:.60}")
    encoder = model.encoder if isinstance(model, Model) else _bits_encoder(model)
    circuit, head = (model.circuit, model.head) if isinstance(model, Model) else (model, None)
    dtype = dtype or ("float64" if isinstance(model, Model) else "uint8")
    netlist = lower(circuit)
    return Source(name, dtype, style, encoder, circuit, head, sort_nodes(netlist) if style == "table" else netlist)


@dataclass(frozen=True)
class Code:
    """The text of a header and of its source, and how many words `evaluate` works on."""

    header: str
    source: str
    n_words: int


def write_code(source: Source) -> Code:
    """The header and the source."""
    asked = ask(source.encoder, source.dtype)
    literals = [[format_constant(value, source.dtype) for value in column.constants] for column in asked]
    body = (write_table if source.style == "table" else write_unrolled)(asked, source.netlist, literals)
    prototypes, head_code = write_head(source)
    return Code(write_header(source, prototypes), write_source(source, body, head_code), body.n_words)


def _bits_encoder(circuit: Circuit) -> Encoder:
    """Columns that are bits."""
    return Encoder(tuple(Numeric(f"x{i}", np.array([0.5])) for i in range(circuit.n_inputs)))
