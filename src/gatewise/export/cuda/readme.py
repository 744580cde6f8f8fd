"""README.md of an export to CUDA C++: what is in the folder, how to build it, and what each number means.

In: a `Source`. Out: Markdown.
"""

from gatewise.export.c.readme import describe_fields, write_columns
from gatewise.export.c.source import C_TYPES, Source
from gatewise.export.cuda.source import count_words
from gatewise.export.emit import Writer
from gatewise.heads import Classes

TEXT = """
# {name}

A {what} as CUDA C++, written by gatewise: {gates} gates in {levels} levels, {bits} bits, {columns} columns and {groups}
groups, for many rows at once.

- `{name}.h`, `{name}.cu`: the code. Its functions have the C interface; they may be called by any number of threads.
- `check.cu`: exits with 0 if the code gives the answers of gatewise's reference evaluator, which are in it.
- `cpu.h`: lets a C++ compiler take the place of nvcc, for machines without a GPU.

On a GPU, and without one:

    nvcc -O2 -std=c++17 -arch=native -o check check.cu {name}.cu && ./check
    g++ -O2 -std=c++17 -x c++ -o check check.cu {name}.cu && ./check

**What is tested.** gatewise's tests compile this kind of source with nvcc for several architectures, and run it, as
plain C++, against the reference evaluator. They do not run it on a GPU: run `check` on yours. Do not compile with
`--use_fast_math`.

## How it works

A word holds a bit of 32 rows. A launch evaluates the gates of one level, each thread one gate of one word; the threads
of a warp share the gate and work on 32 words that are neighbors, so every access is to 128 bytes in a row. Gates are
{gate_bytes:,} bytes of table in global memory; the words of all {nodes} nodes are kept for {rows} rows at a
time, {state:,} bytes, about what the second-level caches of GPUs hold. Straight code would be megabytes, more than
instruction caches hold. Threads count 128 outputs each, bit-sliced, and add to the counts of the rows; the highest
count is found on the device, too.

## Functions

They give 0, or the number of a `cudaError_t`. Arrays are in memory of the host; n is the number of rows. All but
`{name}_enqueue` allocate memory of the device and free it again at every call, so give them many rows.

| function | gives |
|---|---|
| `{name}_rows_counts(rows, n, counts)` | true outputs of each group, `int32_t counts[n][{groups}]` |
| `{name}_bits_counts(bits, n, counts)` | the same for rows of bits |
{functions}
| `{name}_enqueue(rows, n, state, counts, classes, stream)` | the same on arrays of the device; see the header |

A row is `{ctype} row[{columns}]`, a number a column, in the order below; rows are one behind the other.

`bits` is `uint32_t bits[{bits}][w]`, w = (n + 31) / 32: bit r % 32 (the lowest is bit 0) of `bits[i][r / 32]` is bit i
of row r.
"""


def write_readme(source: Source) -> str:
    """The README."""
    netlist = source.netlist
    fields = describe_fields(source) | {
        "levels": int(netlist.levels().max(initial=0)),
        "nodes": netlist.n_nodes,
        "gate_bytes": 8 * netlist.n_gates,
        "state": 4 * netlist.n_nodes * count_words(netlist),
        "rows": 32 * count_words(netlist),
        "ctype": C_TYPES[source.dtype],
        "functions": "\n".join(_list_functions(source)),
    }
    writer = Writer()
    writer.lines(TEXT.format(**fields).replace("\n\n| `", "\n| `"))
    write_columns(writer, source)
    return writer.text()


def _list_functions(source: Source) -> list[str]:
    name, rows = source.name, []
    if isinstance(source.head, Classes):
        rows.append(
            f"| `{name}_rows_classes(rows, n, classes)` | classes with the highest count, `int32_t classes[n]` |"
        )
        rows.append(f"| `{name}_bits_classes(bits, n, classes)` | the same for rows of bits |")
    if source.head is not None:
        rule = describe_fields(source)["scores"]
        rows.append(
            f"| `{name}_rows_scores(rows, n, scores)` | `double scores[n][{source.circuit.n_groups}]`: {rule} |"
        )
    return rows
