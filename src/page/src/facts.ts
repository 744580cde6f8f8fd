// What Python writes into the page, see gatewise/report/facts.py; arrays are little-endian bytes in base64.

export interface ModelFacts {
  kind: "classes" | "affine" | "logit" | "exponential";
  labels: (string | number | boolean)[];
  tau: number;
  scale: number[];
  offset: number[];
  group_size: number;
  n_columns: number;
  n_bits: number;
  n_gates: number;
  n_levels: number;
  n_groups: number;
  n_outputs: number;
  n_bytes: number;
  threads: number;
  ns_per_bits: number;
  ns_per_row: number | null;
  machine: string;
  gates_of_levels: number[][];
}

export interface Histogram {
  edges: number[];
  counts: number[];
  means: (number | null)[];
  n_other: number;
  n_missing: number;
  mean_other: number | null;
  mean_missing: number | null;
}

export interface Column {
  name: string;
  table_name: string;
  kind: "number" | "category" | "time";
  questions: string[];
  thresholds: number[];
  codes: number[];
  values: string[];
  asks_missing: boolean;
  low: number;
  high: number;
  is_whole: boolean;
  anchor: number | null;
  rise: number | null;
  histogram: Histogram | null;
}

export interface CircuitFacts {
  gate: string;
  a: string;
  b: string;
  level: string;
  wires: string;
  groups: string;
  votes: string;
}

export interface ClassQuality {
  n_rows: number;
  n_unknown: number;
  accuracy: number;
  log_loss: number;
  confusion: number[][];
  calibration: [number, number, number][];
  cuts: [number, number, number][];
}

export interface ValueQuality {
  n_rows: number;
  r2: number | null;
  rmse: number;
  mae: number;
  below: number;
  points: [number, number][];
  edges: number[];
  counts: number[];
}

export interface SeveralQuality {
  n_rows: number;
  values: ValueQuality[];
}

export interface LabelQuality {
  n_rows: number;
  exact: number;
  hits: number[];
  answered: number[];
  owners: number[];
}

export interface SampleFacts {
  rows: string;
  values: string[];
  codes: string[];
  truth: string | null;
}

export interface TrainingRecord {
  epoch: number;
  seconds: number;
  loss: number;
  score: number;
  soft_loss: number;
  soft_score: number;
  gap: number;
  gates: number[][];
}

export interface Proof {
  question?: string;
  status?: string;
  effort?: {seconds?: number; n_gates?: number; solver?: string};
  counterexample?: Record<string, unknown>[];
  answers?: unknown[];
}

export interface Facts {
  title: string;
  model: ModelFacts;
  columns: Column[];
  image: [number, number] | null;
  circuit: CircuitFacts | null;
  quality: ClassQuality | ValueQuality | SeveralQuality | LabelQuality | null;
  sample: SampleFacts | null;
  history: TrainingRecord[];
  proofs: Proof[];
  commands: string[];
  left_out: string[];
}

function decode(text: string): ArrayBuffer {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}

export const toBytes = (text: string): Uint8Array => new Uint8Array(decode(text));
export const toWires = (text: string): Int32Array => new Int32Array(decode(text));
export const toNumbers = (text: string): Float64Array => new Float64Array(decode(text));

/** Codes have a byte each, or two if there are more than 256 values. */
function toCodes(text: string, n: number): ArrayLike<number> {
  const bytes = toBytes(text);
  return bytes.length === n ? bytes : new Uint16Array(bytes.buffer);
}

/** The rows of the table that the page carries. */
export class Sample {
  readonly rows: Int32Array;
  readonly truth: Float64Array | null;
  private readonly values: Float64Array[];
  private readonly codes: ArrayLike<number>[];

  constructor(facts: SampleFacts) {
    this.rows = toWires(facts.rows);
    this.truth = facts.truth === null ? null : toNumbers(facts.truth);
    this.values = facts.values.map(toNumbers);
    this.codes = facts.codes.map((text) => toCodes(text, this.rows.length));
  }

  /** Numbers of a row, as the encoder compares them. */
  take(i: number): Float64Array {
    return Float64Array.from(this.values, (values, column) => values[this.codes[column][i]]);
  }
}
