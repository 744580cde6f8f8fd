// Runs the model: numbers of a row to bits, bits to wires, wires to counts, counts to answers. It gives what
// gatewise.Model.predict gives: comparisons are of doubles, counts are whole numbers.
import type {CircuitFacts, Column, ModelFacts} from "./facts";
import {toBytes, toWires} from "./facts";

export const N_CONSTANTS = 2;
export const LANES = 32;
const LOGIT_MARGIN = 0.001;

/** Whether a gate is true for operands a and b; its number is its truth table, read 00, 01, 10, 11. */
export const evaluateGate = (gate: number, a: number, b: number): number => (gate >> (3 - 2 * a - b)) & 1;

// Every gate is an exclusive or of 1, a, b and ab; these say which of them, as masks of all lanes.
const ONE = new Int32Array(16);
const OF_A = new Int32Array(16);
const OF_B = new Int32Array(16);
const OF_AB = new Int32Array(16);
for (let gate = 0; gate < 16; ++gate) {
  const [f00, f01, f10, f11] = [0, 1, 2, 3].map((row) => evaluateGate(gate, row >> 1, row & 1));
  ONE[gate] = -f00;
  OF_A[gate] = -(f00 ^ f10);
  OF_B[gate] = -(f00 ^ f01);
  OF_AB[gate] = -(f00 ^ f01 ^ f10 ^ f11);
}

/** Bits of a column: its thresholds or categories, and then whether the value is missing. */
export function askColumn(column: Column, value: number, tell: (bit: number, holds: boolean) => void): void {
  const constants = column.kind === "category" ? column.codes : column.thresholds;
  const isCategory = column.kind === "category";
  for (let k = 0; k < constants.length; ++k) tell(k, isCategory ? value === constants[k] : value > constants[k]);
  if (column.asks_missing) tell(constants.length, Number.isNaN(value));
}

export class Evaluator {
  readonly nInputs: number;
  readonly first: number;  // wire of the first gate
  readonly gate: Uint8Array;
  readonly a: Int32Array;
  readonly b: Int32Array;
  readonly level: Int32Array;
  readonly wires: Int32Array;
  readonly groups: Int32Array;
  readonly votes: Int32Array;
  readonly firstBit: number[] = [];  // of each column
  private readonly lanes: Int32Array;

  constructor(readonly model: ModelFacts, readonly columns: Column[], circuit: CircuitFacts) {
    this.gate = toBytes(circuit.gate);
    [this.a, this.b, this.level] = [circuit.a, circuit.b, circuit.level].map(toWires);
    [this.wires, this.groups, this.votes] = [circuit.wires, circuit.groups, circuit.votes].map(toWires);
    this.nInputs = model.n_bits;
    this.first = N_CONSTANTS + this.nInputs;
    this.lanes = new Int32Array(this.first + this.gate.length);
    let bit = 0;
    for (const column of columns) {
      this.firstBit.push(bit);
      bit += column.questions.length;
    }
  }

  /** Puts the bits of a row into one lane of all inputs. */
  private load(row: ArrayLike<number>, lane: number, values: Int32Array): void {
    for (let i = 0; i < this.columns.length; ++i) this.loadColumn(i, row[i], lane, values);
  }

  private loadColumn(i: number, value: number, lane: number, values: Int32Array): void {
    const first = N_CONSTANTS + this.firstBit[i];
    const mask = 1 << lane;
    askColumn(this.columns[i], value, (bit, holds) => {
      values[first + bit] = holds ? values[first + bit] | mask : values[first + bit] & ~mask;
    });
  }

  private run(values: Int32Array): void {
    const {gate, a, b, first} = this;
    values[0] = 0;
    values[1] = -1;
    for (let i = 0; i < gate.length; ++i) {
      const [kind, x, y] = [gate[i], values[a[i]], values[b[i]]];
      values[first + i] = ONE[kind] ^ (OF_A[kind] & x) ^ (OF_B[kind] & y) ^ (OF_AB[kind] & x & y);
    }
  }

  /** All wires of one row, each 0 or 1. */
  wiresOf(row: ArrayLike<number>): Uint8Array {
    this.load(row, 0, this.lanes);
    this.run(this.lanes);
    return Uint8Array.from(this.lanes, (value) => value & 1);
  }

  countsOf(wires: ArrayLike<number>, lane = 0): Int32Array {
    const counts = new Int32Array(this.model.n_groups);
    for (let k = 0; k < this.wires.length; ++k) {
      counts[this.groups[k]] += ((wires[this.wires[k]] >>> lane) & 1) * this.votes[k];
    }
    return counts;
  }

  /** Counts of rows that are `row` but for one column each: 32 of them are run at a time. */
  countChanges(row: ArrayLike<number>, changes: {column: number; value: number}[]): Int32Array[] {
    const found: Int32Array[] = [];
    for (let start = 0; start < changes.length; start += LANES) {
      const part = changes.slice(start, start + LANES);
      this.load(row, 0, this.lanes);
      for (let i = N_CONSTANTS; i < this.first; ++i) this.lanes[i] = -(this.lanes[i] & 1);
      part.forEach(({column, value}, lane) => this.loadColumn(column, value, lane, this.lanes));
      this.run(this.lanes);
      part.forEach((_, lane) => found.push(this.countsOf(this.lanes, lane)));
    }
    return found;
  }

  /** Score of each class, or value of each output. */
  scoresOf(counts: Int32Array): number[] {
    const {kind, tau, scale, offset, group_size} = this.model;
    if (kind === "classes") return Array.from(counts, (count) => count / tau);
    return Array.from(counts, (count, k) => {
      const share = count / group_size;
      const inner = LOGIT_MARGIN + (1 - 2 * LOGIT_MARGIN) * share;
      const sum = (kind === "logit" ? Math.log(inner / (1 - inner)) : share) * scale[k] + offset[k];
      return kind === "exponential" ? Math.exp(sum) : sum;
    });
  }

  /** Position of the class that is answered: the highest count, of several the first. */
  static winner(counts: Int32Array): number {
    let best = 0;
    for (let k = 1; k < counts.length; ++k) if (counts[k] > counts[best]) best = k;
    return best;
  }

  /** What `Model.predict` gives for a row of numbers: a label, a value, or several values. */
  predict(row: ArrayLike<number>): string | number | boolean | number[] {
    const counts = this.countsOf(this.wiresOf(row));
    if (this.model.kind === "classes") return this.model.labels[Evaluator.winner(counts)];
    const values = this.scoresOf(counts);
    return values.length === 1 ? values[0] : values;
  }
}

export function softmax(scores: number[]): number[] {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}
