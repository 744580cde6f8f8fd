// "What would have to change": every single-column change there is, a value for each answer to the column's questions.
import type {Column} from "./facts";
import type {Answer, State} from "./state";
import {cut, sayValue} from "./words";

export interface Change {
  column: number;
  value: number;
  words: string;
  distance: number;  // share of the column's range
  answer: Answer;
}

interface Candidate {
  column: number;
  value: number;
  words: string;
}

/** A value for every part of the column's range that its questions tell apart, but for the part of the present value. */
function listCandidates(column: Column, i: number, now: number): Candidate[] {
  const found: Candidate[] = [];
  if (column.kind === "category") {
    for (const value of [...column.codes, Infinity]) {
      if (value !== now && !(value === Infinity && !column.codes.includes(now))) {
        found.push({column: i, value, words: sayValue(column, value)});
      }
    }
  } else {
    column.thresholds.forEach((threshold, k) => {
      if (now > threshold) found.push({column: i, value: below(column, k), words: `≤ ${cut(column, k)}`});
      else found.push({column: i, value: above(column, k), words: `> ${cut(column, k)}`});
    });
  }
  if (column.asks_missing && !Number.isNaN(now)) found.push({column: i, value: NaN, words: "missing"});
  return found;
}

function below(column: Column, k: number): number {
  const whole = Math.floor(column.thresholds[k]);
  return column.is_whole && (k === 0 || whole > column.thresholds[k - 1]) ? whole : column.thresholds[k];
}

function above(column: Column, k: number): number {
  const {thresholds, high} = column;
  const [low, next] = [thresholds[k], thresholds[k + 1] ?? Math.max(high, thresholds[k] + 1)];
  const whole = Math.floor(low) + 1;
  return column.is_whole && whole <= next ? whole : low + (next - low) / 2;
}

function measure(column: Column, from: number, to: number): number {
  const distance = Math.abs(to - from) / (column.high - column.low || 1);
  return column.kind !== "category" && Number.isFinite(distance) ? distance : 1;
}

/** All changes of one column each, with the answers that they give. */
export function tryAll(state: State): Change[] {
  const {columns} = state.facts;
  const candidates = columns.flatMap((column, i) => listCandidates(column, i, state.numbers[i]));
  const counts = state.evaluator.countChanges(state.numbers, candidates);
  return candidates.map((candidate, k) => ({
    ...candidate,
    distance: measure(columns[candidate.column], state.numbers[candidate.column], candidate.value),
    answer: state.answerOf(counts[k]),
  }));
}

/** Of each column and new class the nearest change, nearest first. */
export function findFlips(state: State): Change[] {
  const nearest = new Map<string, Change>();
  for (const change of tryAll(state)) {
    if (change.answer.winner === state.answer.winner) continue;
    const direction = change.value > state.numbers[change.column];
    const key = `${change.column} ${change.answer.winner} ${direction} ${Number.isNaN(change.value)}`;
    const known = nearest.get(key);
    if (!known || change.distance < known.distance) nearest.set(key, change);
  }
  return [...nearest.values()].sort((x, y) => x.distance - y.distance);
}

/** Of each column the change that moves the first value most, largest first. */
export function findMoves(state: State): Change[] {
  const [now] = state.answer.scores;
  const size = (change: Change): number => Math.abs(change.answer.scores[0] - now);
  const largest = new Map<number, Change>();
  for (const change of tryAll(state)) {
    const known = largest.get(change.column);
    if (size(change) > 0 && (!known || size(change) > size(known))) largest.set(change.column, change);
  }
  return [...largest.values()].sort((x, y) => size(y) - size(x));
}
