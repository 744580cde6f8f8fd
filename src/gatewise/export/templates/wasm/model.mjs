// Written by gatewise; README.md says what the numbers mean.
import {columns, KIND, labels, LANES, N_BITS, N_COLUMNS, N_GROUPS, Row} from "./sizes.mjs";

export {toRow} from "./rows.mjs";
export {columns, labels, Row};

/** Blocks of packed bits from n rows of bits, one behind the other, that are 0 or 1. */
export function toBlocks(bits, n) {
  const blocks = new Uint8Array(BLOCK_BYTES * Math.ceil(n / LANES));
  for (let row = 0; row < n; ++row) {
    for (let i = 0; i < N_BITS; ++i) {
      const bit = (Math.floor(row / LANES) * N_BITS + i) * LANES + (row % LANES);
      blocks[bit >> 3] |= bits[row * N_BITS + i] << (bit & 7);
    }
  }
  return blocks;
}

/** Loads the module, from its file beside this one unless its bytes, or a compiled WebAssembly.Module, are given. */
export async function load(source) {
  const loaded = await WebAssembly.instantiate(source ?? (await readModule()));
  return new Model(loaded.instance ?? loaded);
}

async function readModule() {
  const url = new URL("./model.wasm", import.meta.url);
  if (url.protocol !== "file:") return (await fetch(url)).arrayBuffer();
  const {readFile} = await import("node:fs/promises");
  return readFile(url);
}

const PAGE = 65536;
const CHUNK_BYTES = 1 << 19;  // copied at once: little enough to stay in a cache
const NUMBERS = [Float64Array, N_GROUPS];
const RESULTS = new Map([
  ["counts", [Int32Array, N_GROUPS]], ["scores", NUMBERS], ["proba", NUMBERS],
  ["predict", KIND === "classifier" ? [Int32Array, 1] : NUMBERS]
]);
const BLOCK_BYTES = (N_BITS * LANES) / 8;
const roundUp = (n, unit) => Math.ceil(n / unit) * unit;

/** Its methods are those functions that the module exports: scores_rows is scoresRows, and scores for one row. */
class Model {
  constructor({exports}) {
    for (const [what, result] of RESULTS) {
      const [rows, blocks] = [exports[`model_${what}_rows`], exports[`model_${what}_blocks`]];
      const run = (input, n = input.length / N_COLUMNS) => evaluate(exports, rows, input, n, result);
      if (rows) this[`${what}Rows`] = run;
      if (rows) this[what] = (row) => run(Row.from(row), 1);
      if (blocks) this[`${what}Blocks`] = (input, n) => evaluate(exports, blocks, input, n, result, true);
    }
    const {predict} = this;
    if (predict) this.predict = (row) => simplify(predict(row));
  }
}

/** What `predict` gives for one row: a label, a value, or several values. */
function simplify(found) {
  if (KIND === "classifier") return labels[found[0]];
  return N_GROUPS === 1 ? found[0] : found;
}

/** Calls a function of the module for some of n rows after the other; the result has `width` numbers per row. */
function evaluate({memory, __heap_base}, call, input, n, [Result, width], isPacked = false) {
  const Input = isPacked ? Uint8Array : Row;
  const size = isPacked ? (rows) => Math.ceil(rows / LANES) * BLOCK_BYTES : (rows) => rows * N_COLUMNS;
  if (!(input instanceof Input) || input.length !== size(n)) {
    const [rule, got] = [`${Input.name} of ${size(n)}`, `${input?.constructor?.name} of ${input?.length}`];
    throw new TypeError(`${isPacked ? "blocks" : "rows"} must be a ${rule} numbers for ${n} rows, got ${got}`);
  }
  const start = roundUp(__heap_base.value, 16);
  const result = new Result(n * width);
  const bytes = Math.max(size(LANES) * input.BYTES_PER_ELEMENT, 1);
  const most = Math.max(Math.floor(CHUNK_BYTES / bytes), 1) * LANES;
  for (let first = 0; first < n; first += most) {
    const nRows = Math.min(most, n - first);
    const part = input.subarray(size(first), size(first + nRows));
    const output = start + roundUp(part.byteLength, 16);
    const lacking = output + nRows * width * Result.BYTES_PER_ELEMENT - memory.buffer.byteLength;
    if (lacking > 0) memory.grow(Math.ceil(lacking / PAGE));
    new Input(memory.buffer, start, part.length).set(part);
    call(start, nRows, output);
    result.set(new Result(memory.buffer, output, nRows * width), first * width);
  }
  return result;
}
