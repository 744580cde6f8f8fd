"""READMEs of all exports: templates with fields, and what they say in the same words about models and their columns.

In: a template, and what it is about. Out: Markdown. Invariant: names that users gave break no table.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from string import Template

from gatewise.encode import Timed
from gatewise.encode.columns import Categorical, Column
from gatewise.export.comparisons import is_coded, missing_code
from gatewise.export.package import read_template
from gatewise.export.source import Source
from gatewise.heads import Classes, Exponential, Head, Logit

MAX_LISTED = 256
"""Columns that are described one by one; those of images are not."""

RANGES = {"month": "1 to 12", "day": "1 to 31", "weekday": "1, Monday, to 7", "hour": "0 to 23", "minute": "0 to 59"}
"""Numbers of parts of dates, which are read in UTC."""


def fill_page(path: str, fields: Mapping[str, object]) -> str:
    """A template of a page with its fields; an empty one leaves no gap."""
    filled = Template(read_template(path)).substitute(fields)
    return re.sub("\n{3,}", "\n\n", filled).strip("\n") + "\n"


def make_table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table.

    Examples
    --------
    >>> print(make_table(["bit", "is 1 where"], [["`bits[0]`", "a|b > 40"]]))
    | bit | is 1 where |
    |---|---|
    | `bits[0]` | a\\|b > 40 |
    """
    lines = [" | ".join(titles), *(" | ".join(str(cell).replace("|", "\\|") for cell in row) for row in rows)]
    lines = [f"| {line} |" for line in lines]
    return "\n".join([lines[0], "|" + "---|" * len(titles), *lines[1:]])


def show(value: object) -> str:
    """A name, label or category that a user gave, as JSON.

    Examples
    --------
    >>> print(show("a `quoted` word"), show(3))
    `"a 'quoted' word"` `3`
    """
    return f"`{json.dumps(value)}`" if "`" not in str(value) else show(str(value).replace("`", "'"))


def list_codes(column: Categorical) -> str:
    """The number of each category."""
    return ", ".join(f"{i} = {show(value)}" for i, value in enumerate(column.values))


def explain_head(head: Head | None) -> str:
    """What classes, scores and values are; nothing for a circuit alone."""
    if head is None:
        return ""
    if isinstance(head, Classes):
        labels = ", ".join(f"{i} = {show(label)}" for i, label in enumerate(head.labels))
        return f"Classes: {labels}. Score of a class: count / {head.tau!r}. Probabilities: softmax of the scores."
    link = "logit(0.001 + 0.998 * share)" if isinstance(head, Logit) else "share"
    sums = [f"{scale!r} * {link} + {offset!r}" for scale, offset in zip(head.scale, head.offset, strict=True)]
    values = [f"exp({each})" for each in sums] if isinstance(head, Exponential) else sums
    return f"Values, where share = count / {head.group_size}: {'; '.join(values)}."


def describe_source(source: Source) -> dict[str, object]:
    """Fields that all pages about code of a programming language have."""
    is_float = source.dtype[0] == "f"
    return {
        "name": source.name,
        "NAME": source.name.upper(),
        "kind": source.kind,
        "style": source.style,
        "n_gates": source.netlist.n_gates,
        "n_bits": source.circuit.n_inputs,
        "n_columns": source.encoder.n_columns,
        "n_groups": source.circuit.n_groups,
        "head": explain_head(source.head),
        "fast_math": "Do not compile with `-ffast-math`: missing values are NaN." if is_float else "",
        "columns": "Each column is a bit: true unless it is 0." if source.head is None else _list_columns(source),
    }


def _list_columns(source: Source) -> str:
    columns = source.encoder.columns
    if len(columns) > MAX_LISTED:
        numbers = "" if source.has_codes else ", all of them numbers"
        return f"{len(columns)} columns{numbers}; those without bits are not read."
    rows = ((i, show(column.name), column.n_bits, _describe(column, source.dtype)) for i, column in enumerate(columns))
    return make_table(["position", "column", "bits", "number"], rows)


def _describe(column: Column, dtype: str) -> str:
    if not column.n_bits:
        return "not read"
    code = "NaN" if dtype[0] == "f" else missing_code(column, dtype)
    missing = f"; {code} if it is missing" if column.missing and code is not None else ""
    if isinstance(column, Categorical) and is_coded(column):
        return f"{list_codes(column)}; any other number for other values{missing}"
    return f"{RANGES.get(column.part, 'seconds') if isinstance(column, Timed) else 'itself'}{missing}"
