/* Written by gatewise; README.md says what the numbers mean. */
import type { Model, Row, Value } from "./kinds.mjs";

/** What makes rows: `new Row(length)`, `Row.from(numbers)`. */
export const Row: { new (length: number): Row; from(numbers: ArrayLike<number>): Row };

/** Labels of the classes; none without classes. */
export const labels: readonly Label[];
export type Label = string | number | boolean;
export const columns: readonly { name: string; values?: readonly unknown[] }[];

/** A row from values by name of the column; what is undefined or null is missing, and other keys are an error. */
export function toRow(record: Record<string, unknown>): Row;
/** Blocks of packed bits from n rows of bits, one behind the other, that are 0 or 1. */
export function toBlocks(bits: ArrayLike<number>, n: number): Uint8Array;

/** What is needed of WebAssembly.Module, which not every library of types knows. */
export type Compiled = object;
/** Loads the module, from its file beside this one unless its bytes, or a compiled module, are given. */
export function load(source?: ArrayBufferView | ArrayBuffer | Compiled): Promise<Model>;

/** In what follows, rows, and results of several rows, stand one behind the other. */
export interface Circuit {
  /** True outputs of each group of a row, of n rows, and of n rows of bits in blocks. */
  counts(row: ArrayLike<number>): Int32Array;
  countsRows(rows: Row, n?: number): Int32Array;
  countsBlocks(blocks: Uint8Array, n: number): Int32Array;
}

export interface Classifier extends Circuit {
  /** What `predict` decides by. */
  scores(row: ArrayLike<number>): Float64Array;
  scoresRows(rows: Row, n?: number): Float64Array;
  /** Probabilities of the classes. */
  proba(row: ArrayLike<number>): Float64Array;
  probaRows(rows: Row, n?: number): Float64Array;
  /** The label of a row. */
  predict(row: ArrayLike<number>): Label;
  /** Positions in `labels`. */
  predictRows(rows: Row, n?: number): Int32Array;
  predictBlocks(blocks: Uint8Array, n: number): Int32Array;
}

export interface Regression extends Circuit {
  /** The value of a row, or its values. */
  predict(row: ArrayLike<number>): Value;
  predictRows(rows: Row, n?: number): Float64Array;
  /** The same in an array. */
  scores(row: ArrayLike<number>): Float64Array;
  scoresRows(rows: Row, n?: number): Float64Array;
}
