"""Sizes and tables of C that all styles have: those of rows, of the head, and of strings.

In: a `Source`. Out: C text that templates include.
Invariant: the head's numbers are those that `gatewise.heads` computes with, and what would need math.h is stored.
"""

import string
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gatewise.encode.columns import Categorical
from gatewise.export.answers import list_powers, tabulate
from gatewise.export.comparisons import is_coded
from gatewise.export.package import format_number, write_array
from gatewise.export.pins import escape_names
from gatewise.export.source import Source
from gatewise.heads import Affine, Classes, Exponential

C_TYPES = {"float64": "double", "float32": "float", "int32": "int32_t", "int16": "int16_t", "uint8": "uint8_t"}
PLAIN = frozenset(string.ascii_letters + string.digits + " -.,:+")
"""Characters that strings of C hold as they are; no underscore, so that no string looks like a name to be renamed."""


class Body(NamedTuple):
    """What a style adds to a source: tables, the functions `encode` and `evaluate`, and how many words they work on."""

    tables: str
    code: str
    n_words: int


def write_sizes(source: Source) -> str:
    """What a header begins with: sizes, the type of a value, and names of the columns."""
    circuit, kind = source.circuit, source.kind
    sizes = {"N_COLUMNS": source.encoder.n_columns, "N_BITS": circuit.n_inputs, "N_GROUPS": circuit.n_groups}
    flags = {
        "IS_CLASSIFIER": kind == "classifier",
        "IS_REGRESSION": kind == "regression",
        "HAS_CODES": source.has_codes,
    }
    lines = [f"#define MODEL_{name} {int(value)}" for name, value in (sizes | flags).items()]
    lines += ["", f"typedef {C_TYPES[source.dtype]} model_value; /* of a row */"]
    if source.encoder.named and source.encoder.columns:
        names = ",\n".join(f"  MODEL_COLUMN_{name}" for name in escape_names(source.encoder.names))
        lines += ["", f"enum {{ /* positions in a row */\n{names}\n}};"]
    return "\n".join(lines)


def write_head_tables(source: Source) -> str:
    """Constants of the head."""
    head = source.head
    if isinstance(head, Classes):
        planes = max((head.n_groups - 1).bit_length(), 1)
        sizes = f"#define TAU {format_number(head.tau, 'float64')}\n#define N_INDEX_PLANES {planes}\n"
        return sizes + _write_doubles("powers", list_powers(head))
    if not isinstance(head, Affine):
        return ""
    sums = tabulate(head)
    share, looked_up = f"(count) / {format_number(head.group_size, 'float64')}", ""
    if sums.shares is not None:
        name = "exponentials" if isinstance(head, Exponential) else "logits"
        share, looked_up = f"{name}[count]", _write_doubles(name, sums.shares)
    scales = _write_doubles("scale", sums.scale) + _write_doubles("offset", sums.offset)
    return f"#define SHARE(count) ({share})\n{looked_up}{scales}"


def write_strings(source: Source) -> str:
    """Labels, and categories that have numbers; those of a column are from one entry of `first_value` to the next."""
    text, values, first = "", [], [0]
    if isinstance(source.head, Classes):
        text = write_array("static const char *const labels[]", (quote(str(label)) for label in source.head.labels))
    for column in source.encoder.columns:
        if isinstance(column, Categorical) and is_coded(column):
            values += [quote(value) if isinstance(value, str) else "0" for value in column.values]
        first.append(len(values))
    if source.has_codes:
        text += write_array("static const char *const values[]", values)
        text += write_array("static const int32_t first_value[]", map(str, first))
    return text


def quote(text: str) -> str:
    """A string as C: UTF-8, everything but letters, digits and some marks in octal.

    Examples
    --------
    >>> print(quote("a b?"))
    "a b\\077"
    """
    if "\0" in text:
        raise ValueError(f"strings must not hold a NUL character to be exported, got {text!r:.60}")
    octets = text.encode("utf-8", "surrogatepass")
    shown = [chr(octet) if chr(octet) in PLAIN else f"\\{octet:03o}" for octet in octets]
    return f'"{"".join(shown)}"'


def _write_doubles(name: str, values: Iterable[float]) -> str:
    return write_array(
        f"static const double {name}[]", (format_number(value, "float64") for value in np.asarray(values).tolist())
    )
