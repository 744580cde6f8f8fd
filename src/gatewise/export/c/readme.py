"""README.md of an export to C: what is in the folder, how to build it, and what each number means.

In: a `Source`. Out: Markdown.
"""

import json

from gatewise.encode.columns import Categorical, Column
from gatewise.export.c.source import C_TYPES, Source
from gatewise.export.emit import Writer
from gatewise.export.names import escape_names
from gatewise.export.questions import is_coded
from gatewise.heads import Classes, Head, Logit

MAX_LISTED = 256
"""Columns that are described one by one; those of images are not."""

BUILD = """
# {name}

A {what} as C99, written by gatewise in the style `{style}`: {gates} gates, {bits} bits, {columns} columns and
{groups} groups.

- `{name}.h`, `{name}.c`: the code. It needs `stdint.h` and nothing else, allocates nothing, and keeps no state:
  functions may be called by any number of threads.
- `check.c`: exits with 0 if the code gives the answers of gatewise's reference evaluator, which are in it.

      cc -std=c99 -O2 -o check check.c {name}.c && ./check

Do not compile with `-ffast-math`: missing values are NaN.
"""

ABI = """
## Functions

| function | gives |
|---|---|
| `{name}_counts(row, counts)` | true outputs of each group, `int32_t counts[{groups}]` |
| `{name}_counts_rows(rows, n, counts)` | the same for n rows, one behind the other, `int32_t counts[n][{groups}]` |
| `{name}_block(bits, counts)` | the same for `{NAME}_LANES` rows of bits, `int32_t counts[{NAME}_LANES][{groups}]` |
{functions}

A row is `{ctype} row[{columns}]`, a number a column, in the order below.

`{name}_block` reads `{name}_word bits[{bits}]`: bit l of `bits[i]` (the lowest is bit 0) is bit i of row l. Compile all
files with `-D{NAME}_LANES=n` to change the 64 rows to 8, 16 or 32 (which saves memory), or, with GCC and Clang, to 128,
256 or 512 (vectors; the other functions then do the work of n rows for one). The stack holds {words} words of
`{NAME}_LANES` bits, {stack} bytes for 64, and little more.
"""


def write_readme(source: Source, n_words: int) -> str:
    """The README."""
    fields = describe_fields(source) | {
        "ctype": C_TYPES[source.dtype],
        "words": n_words + source.n_counted,
        "stack": 8 * (n_words + source.n_counted),
        "functions": "\n".join(_list_functions(source)),
    }
    writer = Writer()
    writer.lines((BUILD + ABI).format(**fields))
    write_columns(writer, source, f"{source.name.upper()}_COLUMN_")
    return writer.text()


def describe_fields(source: Source) -> dict[str, object]:
    """What READMEs of all targets say about a model."""
    what = "circuit" if source.head is None else "classifier" if isinstance(source.head, Classes) else "regression"
    return {
        "name": source.name,
        "NAME": source.name.upper(),
        "what": what,
        "style": source.style,
        "gates": source.netlist.n_gates,
        "bits": source.circuit.n_inputs,
        "columns": source.encoder.n_columns,
        "groups": source.circuit.n_groups,
        "scores": describe_scores(source.head),
    }


def describe_scores(head: Head | None) -> str:
    """How scores are made of counts."""
    if head is None:
        return ""
    if isinstance(head, Classes):
        return f"count / tau; tau is {head.tau!r}"
    share = "logit(share), share drawn into [0.001, 0.999]" if isinstance(head, Logit) else "share"
    return f"offset + scale * {share}; share = count / {head.group_size}"


def _list_functions(source: Source) -> list[str]:
    head, name, rows = source.head, source.name, []
    if isinstance(head, Classes):
        rows.append(f"| `{name}_scores(row, scores)` | `double scores[{head.n_groups}]`: {describe_scores(head)} |")
        rows.append(f"| `int32_t {name}_predict(row)` | the class with the highest count, the lowest of several |")
        rows.append(f"| `const char *{name}_label(class)` | its label |")
    elif head is not None:
        rule = describe_scores(head)
        rows.append(f"| `{name}_scores(row, scores)` | values, `double scores[{head.n_groups}]`: {rule} |")
        predict = f"double {name}_predict(row)" if head.n_groups == 1 else f"{name}_predict(row, values)"
        rows.append(f"| `{predict}` | the same |")
    if any(map(is_coded, source.encoder.columns)):
        rows.append(f"| `int32_t {name}_code(column, text)` | the number of a category in UTF-8; -1 if it is another |")
    return rows


def write_columns(writer: Writer, source: Source, prefix: str | None = None) -> None:
    """What each number of a row is, and each class; names of positions start with the prefix, if they have names."""
    _write_column_table(writer, source, prefix)
    if isinstance(source.head, Classes):
        writer.section("## Classes\n")
        writer.line()
        for i, label in enumerate(source.head.labels):
            writer.line(f"- {i}: {_show(label)}")


def _write_column_table(writer: Writer, source: Source, prefix: str | None) -> None:
    columns = source.encoder.columns
    writer.section("## Columns")
    writer.line()
    if source.head is None:
        writer.line("Each column is a bit: true unless it is 0.")
        return
    if len(columns) > MAX_LISTED:
        numbers = "" if any(map(is_coded, columns)) else ", all of them numbers"
        writer.line(f"{len(columns)} columns{numbers}; those without bits are not read.")
        return
    names = escape_names(source.encoder.names) if source.encoder.named and prefix else None
    writer.lines("| position | column | bits | number |\n|---|---|---|---|")
    for i, column in enumerate(columns):
        position = f"`{prefix}{names[i]}` = {i}" if names else str(i)
        writer.line(f"| {position} | {_show(column.name)} | {column.n_bits} | {_describe(column, source.dtype)} |")


def _describe(column: Column, dtype: str) -> str:
    is_float = dtype[0] == "f"
    if not column.n_bits:
        return "not read"
    if isinstance(column, Categorical) and is_coded(column):
        listed = ", ".join(f"{i} {_show(value)}" for i, value in enumerate(column.values))
        missing = f"; {'NaN' if is_float else len(column.values)} if it is missing" if column.missing else ""
        return f"{listed}; any other number for other values{missing}"
    return "itself" + ("; NaN if it is missing" if column.missing and is_float else "")


def _show(value: object) -> str:
    """A name or label that no Markdown and no table is broken by."""
    return "`" + json.dumps(value).replace("`", "'").replace("|", "\\u007c") + "`"
