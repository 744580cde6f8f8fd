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
/** Words of packed bits from n rows of bits, one behind the other, that are 0 or 1. */
export function toWords(bits: ArrayLike<number>, n: number): Uint32Array;

/** What is needed of GPUDevice, which not every library of types knows. */
export type Device = object;
/** Loads the model for a device, by default one of the browser's, from its files beside the wrapper. */
export function load(device?: Device): Promise<Model>;

/** In what follows, rows, and results of several rows, stand one behind the other. Calls may overlap. */
export interface Circuit {
  /** True outputs of each group of a row, of n rows, and of n rows of bits in words. */
  counts(row: ArrayLike<number>): Promise<Int32Array>;
  countsRows(rows: Row, n?: number): Promise<Int32Array>;
  countsWords(words: Uint32Array, n: number): Promise<Int32Array>;
  /** Gives the memory of the device back; the model is of no use then. */
  destroy(): void;
}

export interface Classifier extends Circuit {
  /** What `predict` decides by. */
  scores(row: ArrayLike<number>): Promise<Float64Array>;
  scoresRows(rows: Row, n?: number): Promise<Float64Array>;
  /** Probabilities of the classes. */
  proba(row: ArrayLike<number>): Promise<Float64Array>;
  probaRows(rows: Row, n?: number): Promise<Float64Array>;
  /** The label of a row. */
  predict(row: ArrayLike<number>): Promise<Label>;
  /** Positions in `labels`. */
  predictRows(rows: Row, n?: number): Promise<Int32Array>;
  predictWords(words: Uint32Array, n: number): Promise<Int32Array>;
}

export interface Regression extends Circuit {
  /** The value of a row, or its values. */
  predict(row: ArrayLike<number>): Promise<Value>;
  predictRows(rows: Row, n?: number): Promise<Float64Array>;
  /** The same in an array. */
  scores(row: ArrayLike<number>): Promise<Float64Array>;
  scoresRows(rows: Row, n?: number): Promise<Float64Array>;
}
