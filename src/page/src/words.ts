// Gates and values in words. A gate is an and, an or, an exclusive or, a copy or a constant, whose operands and result
// may be inverted.
import type {Column} from "./facts";
import type {Evaluator} from "./evaluator";
import {evaluateGate, N_CONSTANTS} from "./evaluator";
import {short} from "./dom";

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
  const flips = [0, 1, 2, 4, 3, 5, 6, 7].map((k) => ({a: !!(k & 1), b: !!(k & 2), result: !!(k & 4)}));
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

/** A wire in words, gates down to some depth. */
export function sayWire(evaluator: Evaluator, wire: number, questions: Question[], depth: number, not = false): string {
  if (wire < N_CONSTANTS) return (wire === 1) !== not ? "always" : "never";
  if (wire < evaluator.first) return questions[wire - N_CONSTANTS][not ? "not" : "is"];
  const i = wire - evaluator.first;
  const {operator, reads, flips} = FORMULAS[evaluator.gate[i]];
  if (depth === 0) return `${not ? "not " : ""}gate ${i}`;
  const inverted = flips.result !== not;
  if (operator === "constant") return inverted ? "always" : "never";
  const operands = {a: evaluator.a[i], b: evaluator.b[i]};
  const isDual = inverted && operator !== "xor" && operator !== "copy";  // by De Morgan's laws
  const flipAll = operator === "copy" ? inverted : isDual;
  const parts = reads.map((pin) => {
    const text = sayWire(evaluator, operands[pin], questions, depth - 1, flips[pin] !== flipAll);
    return reads.length > 1 && /\b(and|or)\b/.test(text) && operands[pin] >= evaluator.first ? `(${text})` : text;
  });
  if (operator === "copy") return parts[0];
  if (operator === "xor") return inverted ? `${parts.join(" exactly if ")}` : `either ${parts.join(" or ")}`;
  return parts.join((operator === "and") !== isDual ? " and " : " or ");
}

export interface Question {
  is: string;
  not: string;
}

/** What each input of the circuit says, and what it says if it is false; pixels are named by their place. */
export function askAll(columns: Column[], image: [number, number] | null): Question[] {
  return columns.flatMap((column, i) => {
    const constants = column.kind === "category" ? column.values : column.thresholds.map((_, k) => cut(column, k));
    const name = image ? `pixel ${Math.floor(i / image[1]) + 1}, ${(i % image[1]) + 1}` : null;
    const [sign, opposite] = column.kind === "category" ? ["=", "≠"] : [">", "≤"];
    const subject = name ?? (column.kind === "time" ? column.table_name : column.name);
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
    if (Math.abs(rounded - thresholds[k]) <= 1e-4 * near || rounded === thresholds[k]) return plain(rounded);
    if (near === Infinity && Math.abs(rounded - thresholds[k]) <= 1e-6 * Math.abs(rounded)) return plain(rounded);
  }
  return plain(thresholds[k]);
}

const plain = (value: number): string => String(value).replace("-", "−");

/** A value of a column in words. */
export function sayValue(column: Column, value: number): string {
  if (Number.isNaN(value)) return "missing";
  if (column.kind === "category") {
    const position = column.codes.indexOf(value);
    return position < 0 ? "any other" : column.values[position];
  }
  if (column.kind === "time" && column.anchor !== null && Number.isFinite(value)) {
    const date = new Date((column.anchor * 86_400 + value) * 1000);
    if (Number.isFinite(date.getTime())) return date.toISOString().slice(0, 16).replace("T", " ").replace(" 00:00", "");
  }
  return short(value);
}
