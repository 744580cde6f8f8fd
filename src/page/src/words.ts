// Gates and values in words. A gate is an and, an or, an exclusive or, a copy or a constant, whose operands and result
// may be inverted.
import type {Column} from "./facts";
import type {Evaluator} from "./evaluator";
import {evaluateGate, N_CONSTANTS} from "./evaluator";
import {exact, isolate, short} from "./dom";

export type Operator = "and" | "or" | "xor" | "copy" | "constant";

export interface Formula {
  operator: Operator;
  reads: ("a" | "b")[];
  flips: {a: boolean; b: boolean; result: boolean};
}

const PLAIN: [Operator, number, ("a" | "b")[]][] = [
  ["constant", 0, []], ["copy", 3, ["a"]], ["copy", 5, ["b"]], ["and", 1, ["a", "b"]], ["or", 7, ["a", "b"]],
  ["xor", 6, ["a", "b"]],
];

function makeFormula(gate: number): Formula {
  const flips = [0, 4, 1, 2, 3, 5, 6, 7].map((k) => ({a: !!(k & 1), b: !!(k & 2), result: !!(k & 4)}));
  for (const flip of flips) {
    for (const [operator, plain, reads] of PLAIN) {
      const rows = [0, 1, 2, 3].map((row) => [row >> 1, row & 1]);
      const is = rows.every(([a, b]) => {
        const value = evaluateGate(plain, a ^ Number(flip.a), b ^ Number(flip.b)) ^ Number(flip.result);
        return value === evaluateGate(gate, a, b);
      });
      if (is) return {operator, reads, flips: flip};
    }
  }
  throw new Error(`gate ${gate} has no formula`);
}

export const FORMULAS: readonly Formula[] = Array.from({length: 16}, (_, gate) => makeFormula(gate));

interface Phrase {
  text: string;
  joint: "and" | "or" | "either" | "exactly if" | null;  // what joins its parts, null if it has none
}

/** A wire in words, gates down to some depth. */
export function sayWire(evaluator: Evaluator, wire: number, questions: Question[], depth: number): string {
  return phrase(evaluator, wire, questions, depth, false).text;
}

function phrase(evaluator: Evaluator, wire: number, questions: Question[], depth: number, not: boolean): Phrase {
  if (wire < N_CONSTANTS) return {text: (wire === 1) !== not ? "always" : "never", joint: null};
  if (wire < evaluator.first) return {text: questions[wire - N_CONSTANTS][not ? "not" : "is"], joint: null};
  const i = wire - evaluator.first;
  const {operator, reads, flips} = FORMULAS[evaluator.gate[i]];
  if (depth === 0) return {text: `${not ? "not " : ""}gate ${i}`, joint: null};
  const inverted = flips.result !== not;
  if (operator === "constant") return {text: inverted ? "always" : "never", joint: null};
  const operands = {a: evaluator.a[i], b: evaluator.b[i]};
  const isDual = inverted && operator !== "xor" && operator !== "copy";  // by De Morgan's laws
  const flipAll = operator === "copy" ? inverted : isDual;
  const parts = reads.map((pin) => phrase(evaluator, operands[pin], questions, depth - 1, flips[pin] !== flipAll));
  if (operator === "copy") return parts[0];
  const joint = operator === "xor" ? (inverted ? "exactly if" : "either") : (operator === "and") !== isDual ? "and" : "or";
  const isSame = (part: Phrase): boolean => part.joint === joint && (joint === "and" || joint === "or");
  const texts = parts.map((part) => (part.joint === null || isSame(part) ? part.text : `(${part.text})`));
  return {text: joint === "either" ? `either ${texts.join(" or ")}` : texts.join(` ${joint} `), joint};
}

export interface Question {
  is: string;
  not: string;
}

/** What each input of the circuit says, and what it says if it is false; pixels are named by their place. */
export function askAll(columns: Column[], image: [number, number] | null): Question[] {
  return columns.flatMap((column, i) => {
    const constants = column.kind === "category" ? column.values.map(sayCategory) : column.thresholds.map((_, k) => cut(column, k));
    const name = image ? `pixel ${Math.floor(i / image[1]) + 1}, ${(i % image[1]) + 1}` : null;
    const [sign, opposite] = column.kind === "category" ? ["=", "≠"] : [">", "≤"];
    const subject = name ?? isolate(column.kind === "time" ? column.table_name : column.name);
    const asked = constants.map((value) => ({is: `${subject} ${sign} ${value}`, not: `${subject} ${opposite} ${value}`}));
    if (column.asks_missing) asked.push({is: `${subject} is missing`, not: `${subject} is known`});
    return asked;
  });
}

/** A threshold in words: what stands behind the last "greater" of the question, rounded if that says the same. */
export function cut(column: Column, k: number): string {
  const {thresholds} = column;
  if (column.kind === "time") return column.questions[k].slice(column.questions[k].lastIndexOf(" > ") + 3);
  const near = Math.min(...[k - 1, k + 1].filter((i) => i in thresholds).map((i) => Math.abs(thresholds[i] - thresholds[k])));
  for (let digits = 4; digits < 17; ++digits) {
    const rounded = Number(thresholds[k].toPrecision(digits));
    if (Math.abs(rounded - thresholds[k]) <= 1e-4 * near || rounded === thresholds[k]) return exact(rounded);
    if (near === Infinity && Math.abs(rounded - thresholds[k]) <= 1e-6 * Math.abs(rounded)) return exact(rounded);
  }
  return exact(thresholds[k]);
}

/** A category in words; one of no letters must be seen, too. */
export const sayCategory = (value: string): string => (value === "" ? "\"\"" : isolate(value));

/** A value of a column in words. */
export function sayValue(column: Column, value: number): string {
  if (Number.isNaN(value)) return "missing";
  if (column.kind === "category") {
    const position = column.codes.indexOf(value);
    return position < 0 ? "any other" : sayCategory(column.values[position]);
  }
  if (column.kind === "time" && column.anchor !== null && Number.isFinite(value)) {
    const date = new Date((column.anchor * 86_400 + value) * 1000);
    if (Number.isFinite(date.getTime())) return date.toISOString().slice(0, 16).replace("T", " ").replace(" 00:00", "");
  }
  return short(value);
}
