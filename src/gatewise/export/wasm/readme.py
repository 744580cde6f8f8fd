"""README.md of an export to WebAssembly: what is in the folder, how to call it, and what each number means.

In: a `Source`, how many rows a block has, and bytes of the module. Out: Markdown.
"""

from gatewise.export.c.readme import describe_fields, write_columns
from gatewise.export.c.source import Source
from gatewise.export.emit import Writer
from gatewise.export.wasm.batch import list_functions
from gatewise.export.wasm.wrapper import ARRAYS
from gatewise.heads import Classes

TEXT = """
# {name}

A {what} as WebAssembly, written by gatewise in the style `{style}`: {gates} gates, {bits} bits, {columns} columns and
{groups} groups.

- `{name}.wasm`: the module, {size} bytes. It needs vectors of 128 bits, which browsers, node (16 and later), Deno, Bun
  and wasmtime have; it imports nothing.
- `{name}.mjs`, `{name}.d.mts`: a wrapper for JavaScript, and its types for TypeScript.
- `check.mjs`: exits with 0 if the module gives the answers of gatewise's reference evaluator, which are in it:
  `node check.mjs`.

## JavaScript

    import {{ load }} from "./{name}.mjs";
    const model = await load();

`load` reads `{name}.wasm` beside the wrapper, or takes its bytes or a compiled module.

| method | gives |
|---|---|
| `counts(row)` | true outputs of each group, `Int32Array` of {groups} |
| `countsRows(rows, n)` | the same for n rows, one behind the other |
| `countsBlocks(bits, n)` | the same for n rows of bits |
{methods}

`row` is anything like an array, a number a column, in the order below. `rows` is a `{array}`; n may be left out.
`bits` is a `Uint8Array` of blocks of {lanes} rows, each block {bits} words of {bytes} bytes: bit l % 8 of byte l / 8 of
word i (the lowest is bit 0) is bit i of row l of the block. The last block may have rows left over: they are not read.

## The module

| export | parameters |
|---|---|
| `memory` | what all addresses are in; little-endian |
| `__heap_base` | a global: memory behind it is free, and the caller makes it grow |
{exports}

`rows`, `bits` and results are addresses, multiples of 16; n is the number of rows. `counts` and `classes` are `i32`,
`scores` are `f64`, and `scratch` is room for {groups} `i32` a row. The module keeps state in its memory: a call
at a time.
"""

PARAMETERS = {
    "rows_counts": "rows, n, counts",
    "blocks_counts": "bits, n, counts",
    "rows_scores": "rows, n, scores, scratch",
    "rows_classes": "rows, n, classes",
    "blocks_classes": "bits, n, classes",
}


def write_readme(source: Source, lanes: int, size: int) -> str:
    """The README."""
    exports = (f"| `{name}` | {PARAMETERS[name.removeprefix(f'{source.name}_')]} |" for name in list_functions(source))
    fields = describe_fields(source) | {
        "size": size,
        "array": ARRAYS[source.dtype],
        "lanes": lanes,
        "bytes": lanes // 8,
        "methods": "\n".join(_list_methods(source)),
        "exports": "\n".join(exports),
    }
    writer = Writer()
    writer.lines(TEXT.format(**fields))
    if source.encoder.named:
        writer.section("`toRow(record)` makes a row of an object with values by name of the column.")
    write_columns(writer, source)
    return writer.text()


def _list_methods(source: Source) -> list[str]:
    if source.head is None:
        return []
    rule = describe_fields(source)["scores"]
    methods = [f"| `scores(row)` | `Float64Array` of {source.circuit.n_groups}: {rule} |"]
    methods.append("| `scoresRows(rows, n)` | the same for n rows |")
    if isinstance(source.head, Classes):
        methods.append("| `predict(row)` | the label of the class with the highest count, the lowest of several |")
        methods.append("| `predictRows(rows, n)` | `Int32Array` of classes, positions in the exported `labels` |")
        methods.append("| `predictBlocks(bits, n)` | the same for n rows of bits |")
    else:
        methods.append("| `predict(row)` | the value, or a `Float64Array` of several |")
        methods.append("| `predictRows(rows, n)` | what `scoresRows` gives |")
    return methods
