"""The wrapper of a module in JavaScript, and its types.

In: a `Source`, and how many rows a block has. Out: text of an ES module and of its declarations.
Invariant: names and labels that users gave stand in JSON only.
"""

import json
from dataclasses import dataclass
from typing import Any

from gatewise.encode.columns import Categorical
from gatewise.export.c.source import Source
from gatewise.export.emit import Writer
from gatewise.export.questions import is_coded, missing_code
from gatewise.heads import Classes

ARRAYS = {
    "float64": "Float64Array",
    "float32": "Float32Array",
    "int32": "Int32Array",
    "int16": "Int16Array",
    "uint8": "Uint8Array",
}

LOAD = """
/** Loads the module, from its file beside this one unless its bytes, or a compiled WebAssembly.Module, are given. */
export async function load(source) {
  const loaded = await WebAssembly.instantiate(source ?? (await readModule()));
  return new Model(loaded.instance ?? loaded);
}

async function readModule() {
  const url = new URL("./{name}.wasm", import.meta.url);
  if (url.protocol !== "file:") return (await fetch(url)).arrayBuffer();
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}

const PAGE = 65536;
const CHUNK_BYTES = 1 << 19; // copied at once: little enough to stay in a cache
const roundUp = (n, unit) => Math.ceil(n / unit) * unit;
"""

MODEL = """
class Model {
  #exports;
  #start;

  constructor(instance) {
    this.#exports = instance.exports;
    this.#start = roundUp(instance.exports.__heap_base.value, 16);
  }

  /** Calls a function of the module for some rows after the other. */
  #run(name, input, unit, n, Result, width, scratch = 0) {
    const needed = roundUp(n, unit.rows) / unit.rows * unit.size;
    if (!(input instanceof unit.Array) || input.length !== needed) {
      const got = `${input?.constructor?.name} of ${input?.length}`;
      throw new TypeError(`${unit.name} must be a ${unit.Array.name} of ${needed} numbers for ${n} rows, got ${got}`);
    }
    const result = new Result(n * width);
    const bytes = unit.size * input.BYTES_PER_ELEMENT;
    const most = Math.max(Math.floor((CHUNK_BYTES / Math.max(bytes, 1) * unit.rows) / LANES), 1) * LANES;
    for (let first = 0; first < n; first += most) {
      const nRows = Math.min(most, n - first);
      const from = first / unit.rows * unit.size;
      const part = input.subarray(from, from + roundUp(nRows, unit.rows) / unit.rows * unit.size);
      const output = this.#start + roundUp(part.byteLength, 16);
      const end = output + roundUp(nRows * width * Result.BYTES_PER_ELEMENT, 16);
      const buffer = this.#reserve(end + nRows * scratch);
      new unit.Array(buffer, this.#start, part.length).set(part);
      this.#exports[name](this.#start, nRows, output, end);
      result.set(new Result(buffer, output, nRows * width), first * width);
    }
    return result;
  }

  #reserve(end) {
    const { memory } = this.#exports;
    const lacking = end - memory.buffer.byteLength;
    if (lacking > 0) memory.grow(Math.ceil(lacking / PAGE));
    return memory.buffer;
  }

  counts(row) {
    return this.countsRows(Row.from(row), 1);
  }

  countsRows(rows, n = rows.length / N_COLUMNS) {
    return this.#run("{name}_rows_counts", rows, ROWS, n, Int32Array, N_GROUPS);
  }

  countsBlocks(bits, n) {
    return this.#run("{name}_blocks_counts", bits, BLOCKS, n, Int32Array, N_GROUPS);
  }
{methods}}
"""

SCORES = """
  scores(row) {
    return this.scoresRows(Row.from(row), 1);
  }

  scoresRows(rows, n = rows.length / N_COLUMNS) {
    return this.#run("{name}_rows_scores", rows, ROWS, n, Float64Array, N_GROUPS, 4 * N_GROUPS);
  }
"""

CLASSES = """
  predict(row) {
    return labels[this.predictRows(Row.from(row), 1)[0]];
  }

  predictRows(rows, n = rows.length / N_COLUMNS) {
    return this.#run("{name}_rows_classes", rows, ROWS, n, Int32Array, 1);
  }

  predictBlocks(bits, n) {
    return this.#run("{name}_blocks_classes", bits, BLOCKS, n, Int32Array, 1);
  }
"""

VALUES = """
  predict(row) {
    return this.scores(row){first};
  }

  predictRows(rows, n = rows.length / N_COLUMNS) {
    return this.scoresRows(rows, n);
  }
"""

TO_ROW = """
/** A row from values by name of the column; what is undefined or null is missing. */
export function toRow(record) {
  const row = new Row(columns.length);
  columns.forEach(({ name, values, missing = NaN }, i) => {
    const value = record[name] ?? undefined;
    if (value === undefined && Number.isNaN(missing) && !HAS_NAN)
      throw new RangeError(`${JSON.stringify(name)} must be given, got nothing`);
    if (value === undefined) row[i] = missing;
    else row[i] = values ? values.indexOf(value) : Number(value);
  });
  return row;
}
"""

TYPES = """
/* Written by gatewise; README.md says what the numbers mean. */

export type Row = {array};
{declared}
/** What is needed of WebAssembly.Module, which not every library of types knows. */
export type Compiled = object;

export function load(source?: ArrayBufferView | ArrayBuffer | Compiled): Promise<Model>;

export interface Model {
  /** True outputs of each group of a row. */
  counts(row: ArrayLike<number>): Int32Array;
  /** The same for n rows, one behind the other. */
  countsRows(rows: Row, n?: number): Int32Array;
  /** The same for n rows of bits in blocks. */
  countsBlocks(bits: Uint8Array, n: number): Int32Array;
{methods}}
"""

SCORES_TYPES = """
  /** What `predict` decides by. */
  scores(row: ArrayLike<number>): Float64Array;
  scoresRows(rows: Row, n?: number): Float64Array;
"""

CLASSES_TYPES = """
  /** The label of a row. */
  predict(row: ArrayLike<number>): Label;
  /** Positions in `labels`, of n rows, one behind the other. */
  predictRows(rows: Row, n?: number): Int32Array;
  /** The same for n rows of bits in blocks. */
  predictBlocks(bits: Uint8Array, n: number): Int32Array;
"""

VALUES_TYPES = """
  /** The value of a row, or its values. */
  predict(row: ArrayLike<number>): {value};
  /** The same for n rows, one behind the other. */
  predictRows(rows: Row, n?: number): Float64Array;
"""


@dataclass(frozen=True)
class Wrapper:
    """Text of the ES module and of its types."""

    code: str
    types: str


def write_wrapper(source: Source, lanes: int) -> Wrapper:
    """The wrapper."""
    is_classifier = isinstance(source.head, Classes)
    is_single = source.circuit.n_groups == 1
    fields = {"name": source.name, "first": "[0]" if is_single else "", "array": ARRAYS[source.dtype]}
    fields["value"] = "number" if is_single else "Float64Array"
    methods = types = ""
    if source.head is not None:
        methods = SCORES + (CLASSES if is_classifier else VALUES)
        types = SCORES_TYPES + (CLASSES_TYPES if is_classifier else VALUES_TYPES)
    declared = Writer()
    code = Writer()
    code.line("// Written by gatewise; README.md says what the numbers mean.")
    code.section(_write_sizes(source, lanes))
    if isinstance(source.head, Classes):
        code.line(f"export const labels = {json.dumps(list(source.head.labels))};")
        declared.lines("export type Label = string | number | boolean;\nexport const labels: readonly Label[];")
    if source.encoder.named:
        code.line(f"export const columns = {json.dumps(_list_columns(source))};")
        code.section(TO_ROW)
        declared.lines("export const columns: readonly { name: string; values?: readonly unknown[] }[];")
        declared.line("export function toRow(record: Record<string, unknown>): Row;")
    code.section(_fill(LOAD, fields))
    code.section(_fill(MODEL, fields | {"methods": _fill(methods, fields)}))
    typed = _fill(TYPES, fields | {"methods": _fill(types, fields).lstrip("\n"), "declared": declared.text().strip()})
    return Wrapper(code.text(), typed.lstrip("\n"))


def _fill(template: str, fields: dict[str, str]) -> str:
    """A template with its fields; braces of the language stay."""
    for field, text in fields.items():
        template = template.replace(f"{{{field}}}", text)
    return template


def _write_sizes(source: Source, lanes: int) -> str:
    return f"""
const Row = {ARRAYS[source.dtype]};
const HAS_NAN = {json.dumps(source.dtype[0] == "f")};
const N_COLUMNS = {source.encoder.n_columns};
const N_GROUPS = {source.circuit.n_groups};
const LANES = {lanes};
const ROWS = {{ name: "rows", Array: Row, rows: 1, size: N_COLUMNS }};
const BLOCKS = {{ name: "bits", Array: Uint8Array, rows: LANES, size: {source.circuit.n_inputs} * LANES / 8 }};
"""


def _list_columns(source: Source) -> list[dict[str, Any]]:
    """Names, and of coded columns the values, whose positions are the codes, and the code of a missing one."""
    listed = []
    for column in source.encoder.columns:
        entry: dict[str, Any] = {"name": column.name}
        if isinstance(column, Categorical) and is_coded(column):
            entry["values"] = list(column.values)
            code = missing_code(column, source.dtype)
            entry |= {} if code is None else {"missing": code}
        listed.append(entry)
    return listed
