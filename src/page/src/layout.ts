// The part of the circuit that is drawn, and where its wires stand: levels from left to right, crossings few.
import type {Evaluator} from "./evaluator";
import {evaluateGate, N_CONSTANTS} from "./evaluator";
import {FORMULAS} from "./words";

export interface Place {
  wire: number;
  column: number;
  row: number;
  isCut: boolean;  // its operands are not drawn
}

export interface Edge {
  from: number;
  to: number;
  pin: "a" | "b";
  stops: Stop[];  // where it passes through columns between its ends
}

interface Stop {
  column: number;
  row: number;
}

type Link = {from: number; to: number};

export interface Layout {
  places: Map<number, Place>;
  edges: Edge[];
  n_columns: number;
  n_rows: number;
  n_cut: number;
}

type Pins = (wire: number) => [number, "a" | "b"][];

/** The operands that a gate depends on. */
export function operandsOf(evaluator: Evaluator, wire: number): [number, "a" | "b"][] {
  if (wire < evaluator.first) return [];
  const i = wire - evaluator.first;
  return FORMULAS[evaluator.gate[i]].reads.map((pin) => [pin === "a" ? evaluator.a[i] : evaluator.b[i], pin]);
}

/** Only those operands that decide: one is enough if the other could be anything. */
export function decidersOf(evaluator: Evaluator, wire: number, wires: Uint8Array): [number, "a" | "b"][] {
  const all = operandsOf(evaluator, wire);
  if (all.length < 2) return all;
  const i = wire - evaluator.first;
  const [gate, a, b] = [evaluator.gate[i], wires[evaluator.a[i]], wires[evaluator.b[i]]];
  const aDecides = evaluateGate(gate, a, 0) === evaluateGate(gate, a, 1);
  const bDecides = evaluateGate(gate, 0, b) === evaluateGate(gate, 1, b);
  const level = (operand: number): number => (operand < evaluator.first ? 0 : evaluator.level[operand - evaluator.first]);
  if (aDecides && bDecides) return [all[level(all[0][0]) <= level(all[1][0]) ? 0 : 1]];
  return aDecides ? [all[0]] : bDecides ? [all[1]] : all;
}

/** Lays out what some wires depend on, at most so many gates of it, those near the wires first. */
export function layOut(evaluator: Evaluator, roots: number[], pins: Pins, most: number): Layout {
  const shown = new Set(roots);
  const queue = [...shown];
  const cut = new Set<number>();
  for (let k = 0; k < queue.length; ++k) {
    const operands = pins(queue[k]);
    const fresh = operands.filter(([wire]) => !shown.has(wire));
    if (shown.size + fresh.length > most) {
      if (operands.length) cut.add(queue[k]);
      continue;
    }
    for (const [wire] of fresh) if (!shown.has(wire)) { shown.add(wire); queue.push(wire); }
  }
  const edges: Edge[] = queue.flatMap((to) => (cut.has(to) ? [] : pins(to).map(([from, pin]) => ({from, to, pin, stops: []}))));
  const levels = findLevels(queue, edges);
  const columns: number[][] = [];
  for (const wire of [...queue].sort((x, y) => x - y)) (columns[levels.get(wire)!] ??= []).push(wire);
  for (let k = 0; k < columns.length; ++k) columns[k] ??= [];
  const ways = edges.map((edge) => addWay(edge, levels, columns));
  const rows = orderRows(columns, ways.flatMap((way) => way.slice(1).map((to, k) => ({from: way[k], to}))));
  edges.forEach((edge, k) => {
    const first = levels.get(edge.from)! + 1;
    edge.stops = ways[k].slice(1, -1).map((way, step) => ({column: first + step, row: rows.get(way)!}));
  });
  const places = new Map<number, Place>();
  for (const wire of queue) {
    places.set(wire, {wire, column: levels.get(wire)!, row: rows.get(wire)!, isCut: cut.has(wire)});
  }
  const highest = Math.max(0, ...rows.values());
  return {places, edges, n_columns: columns.length, n_rows: highest + 1, n_cut: cut.size};

  function findLevels(wires: number[], between: Link[]): Map<number, number> {
    const operands = new Map<number, number[]>();
    for (const {from, to} of between) operands.set(to, [...(operands.get(to) ?? []), from]);
    const found = new Map<number, number>();
    // Operands have lower numbers than what they drive; what is cut stands where its level in the circuit says at least 1.
    for (const wire of [...wires].sort((x, y) => x - y)) {
      const below = (operands.get(wire) ?? []).map((each) => found.get(each)!);
      found.set(wire, below.length ? 1 + Math.max(...below) : wire < evaluator.first ? 0 : cut.has(wire) ? 1 : 0);
    }
    return found;
  }
}

/** What an edge passes, in each column between its ends a place of its own, which edges from the same wire share. */
function addWay({from, to}: Link, levels: Map<number, number>, columns: number[][]): number[] {
  const way = [from];
  for (let column = levels.get(from)! + 1; column < levels.get(to)!; ++column) {
    const stop = -1 - from * columns.length - column;
    if (!columns[column].includes(stop)) columns[column].push(stop);
    way.push(stop);
  }
  return [...way, to];
}

const sizeOf = (wire: number): number => (wire < 0 ? 0.4 : 1);  // in rows; places that edges pass are lower
const sum = (numbers: number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Rows by the mean of the neighbors' rows, from left to right and back, a few times; then spread over the height. */
function orderRows(columns: number[][], edges: Link[]): Map<number, number> {
  const [below, above] = [new Map<number, number[]>(), new Map<number, number[]>()];
  for (const {from, to} of edges) {
    below.set(to, [...(below.get(to) ?? []), from]);
    above.set(from, [...(above.get(from) ?? []), to]);
  }
  const most = Math.max(...columns.map((wires) => sum(wires.map(sizeOf))));
  const rows = new Map<number, number>();
  for (const wires of columns) {
    wires.forEach((wire, k) => rows.set(wire, ((k + 0.5) * most) / wires.length - 0.5));
  }
  for (let round = 0; round < 12; ++round) {
    const isForward = round % 2 === 0;
    const neighbors = isForward ? below : above;
    for (const wires of isForward ? columns : [...columns].reverse()) {
      const target = new Map(wires.map((wire) => {
        const near = (neighbors.get(wire) ?? []).map((each) => rows.get(each)!);
        return [wire, near.length ? sum(near) / near.length : rows.get(wire)!];
      }));
      wires.sort((x, y) => target.get(x)! - target.get(y)!);
      place(wires, target, most, rows);
    }
  }
  return rows;
}

/** As near to the targets as an order and a distance of one row allow. */
function place(wires: number[], target: Map<number, number>, most: number, rows: Map<number, number>): void {
  let [free, rest] = [0, sum(wires.map(sizeOf))];
  for (const wire of wires) {
    const size = sizeOf(wire);
    const top = Math.min(Math.max(target.get(wire)! + 0.5 - size / 2, free), Math.max(most - rest, free));
    rows.set(wire, top + size / 2 - 0.5);
    free = top + size;
    rest -= size;
  }
}

export const isInput = (evaluator: Evaluator, wire: number): boolean => wire >= N_CONSTANTS && wire < evaluator.first;
