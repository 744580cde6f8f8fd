// The row that the live part is about: its numbers, its wires, and what they were when it was chosen.
import type {Facts, Sample} from "./facts";
import {Evaluator, softmax} from "./evaluator";
import type {Question} from "./words";
import {askAll} from "./words";

export interface Answer {
  counts: Int32Array;
  scores: number[];
  shares: number[];  // probabilities of classes, empty for values
  winner: number;
}

export class State {
  readonly questions: Question[];
  numbers: Float64Array;
  wires!: Uint8Array;
  answer!: Answer;
  before!: Uint8Array;  // wires of the row that was chosen
  chosen!: Float64Array;
  private readonly listeners: (() => void)[] = [];

  constructor(readonly facts: Facts, readonly evaluator: Evaluator, readonly sample: Sample | null) {
    this.questions = askAll(facts.columns, facts.image);
    this.numbers = sample ? sample.take(0) : Float64Array.from(facts.columns, middle);
    this.choose(this.numbers);
  }

  subscribe(listener: () => void): void {
    this.listeners.push(listener);
    listener();
  }

  /** Starts from another row. */
  choose(numbers: Float64Array): void {
    this.numbers = numbers.slice();
    this.chosen = numbers.slice();
    this.wires = this.evaluator.wiresOf(this.numbers);
    this.before = this.wires;
    this.tell();
  }

  change(column: number, value: number): void {
    this.numbers[column] = value;
    this.update();
  }

  update(): void {
    this.wires = this.evaluator.wiresOf(this.numbers);
    this.tell();
  }

  answerOf(counts: Int32Array): Answer {
    const scores = this.evaluator.scoresOf(counts);
    const shares = this.facts.model.kind === "classes" ? softmax(scores) : [];
    return {counts, scores, shares, winner: Evaluator.winner(counts)};
  }

  private tell(): void {
    this.answer = this.answerOf(this.evaluator.countsOf(this.wires));
    for (const listener of this.listeners) listener();
  }
}

function middle(column: {kind: string; low: number; high: number; codes: number[]}): number {
  return column.kind === "category" ? column.codes[0] ?? NaN : (column.low + column.high) / 2;
}
