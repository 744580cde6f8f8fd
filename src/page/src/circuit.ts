// The circuit: how its gates are spread over the levels, its outputs by their votes, the cone of one of them, and a
// gate in words with its truth table.
import {button, clip, count, figure, h, integer, isolate, section} from "./dom";
import {Drawing} from "./drawing";
import {evaluateGate, N_CONSTANTS} from "./evaluator";
import type {Facts, ModelFacts} from "./facts";
import {decidersOf, layOut, operandsOf} from "./layout";
import type {State} from "./state";
import {FORMULAS, sayWire} from "./words";

const [MAX_WHOLE, MAX_CONE, MAX_OUTPUTS, MAX_LEVELS, DEPTH] = [70, 90, 200, 60, 3];
const OPERATORS = ["and", "or", "xor", "copy", "constant"] as const;

/** Gates of each level by kind; null if there are none. */
export function makeLevels({model}: Facts): HTMLElement | null {
  if (!model.n_gates) return null;
  return makeStacks("Gates of each level, with inverters in them", model.gates_of_levels, "level");
}

/** Gates by kind, as bars, one for each level or layer. */
export function makeStacks(caption: string, levels: number[][], noun: string): HTMLElement {
  const merged = merge(levels, Math.ceil(levels.length / MAX_LEVELS) || 1, noun);
  const most = Math.max(1, ...merged.map(({total}) => total));
  const rows = merged.map(({name, total, kinds}) => {
    const track = h("span", {class: "stack"});
    for (const operator of OPERATORS) {
      if (!kinds[operator]) continue;
      const part = h("span", {class: `part ${operator}`, title: `${operator}: ${integer(kinds[operator])}`});
      part.style.width = `${(100 * kinds[operator]) / most}%`;
      track.append(part);
    }
    const words = OPERATORS.filter((each) => kinds[each]).map((each) => `${integer(kinds[each])} ${each}`).join(", ");
    return h("li", {}, h("span", {class: "name"}, name), track, h("span", {class: "told"}, integer(total)), h("span", {class: "sr"}, words));
  });
  const keys = OPERATORS.filter((each) => levels.some((kinds) => kinds.some((n, gate) => n && FORMULAS[gate].operator === each)));
  const legend = h("p", {class: "legend"}, ...keys.map((each) => h("span", {}, h("i", {class: `part ${each}`}), each)));
  return figure(caption, h("ul", {class: "bars levels"}, ...rows), legend);
}

function merge(levels: number[][], size: number, noun: string): {name: string; total: number; kinds: Record<string, number>}[] {
  const merged = [];
  for (let first = 0; first < levels.length; first += size) {
    const kinds: Record<string, number> = {};
    let total = 0;
    for (const level of levels.slice(first, first + size)) {
      level.forEach((n, gate) => {
        kinds[FORMULAS[gate].operator] = (kinds[FORMULAS[gate].operator] ?? 0) + n;
        total += n;
      });
    }
    const last = Math.min(first + size, levels.length);
    merged.push({name: last > first + 1 ? `${noun}s ${first + 1}–${last}` : `${noun} ${first + 1}`, total, kinds});
  }
  return merged;
}

interface Output {
  wire: number;
  group: number;
  votes: number;
}

export function makeCircuit(state: State): HTMLElement {
  const {facts, evaluator} = state;
  const groups = nameGroups(facts.model);
  const outputs: Output[] = Array.from(evaluator.wires, (wire, k) => ({wire, group: evaluator.groups[k], votes: evaluator.votes[k]}));
  outputs.sort((x, y) => Number(isConstant(x)) - Number(isConstant(y)) || y.votes - x.votes || x.wire - y.wire);
  const isWhole = facts.model.n_gates <= MAX_WHOLE;

  const details = h("div", {class: "details", "aria-live": "polite"});
  const told = h("p", {class: "quiet"});
  const only = h("input", {type: "checkbox", id: "only"});
  const levelOf = (wire: number): number => (wire < evaluator.first ? 0 : evaluator.level[wire - evaluator.first]);
  const group = chooseGroup(state, outputs, groups.length);
  const own = outputs.filter((output) => output.group === group).slice(0, 40);
  let root = own.sort((x, y) => levelOf(y.wire) - levelOf(x.wire))[0]?.wire ?? 0;
  let showsAll = isWhole;
  const drawing = new Drawing(state, (wire) => explain(wire));

  const draw = (): void => {
    const pins = only.checked ? (wire: number) => decidersOf(evaluator, wire, state.wires) : (wire: number) => operandsOf(evaluator, wire);
    const roots = showsAll ? [...new Set(outputs.filter((each) => !isConstant(each)).map(({wire}) => wire))] : [root];
    const layout = layOut(evaluator, roots, pins, showsAll ? 4 * MAX_WHOLE : MAX_CONE);
    drawing.show(layout, showsAll ? "The whole circuit" : "What one output depends on");
    const gates = [...layout.places.keys()].filter((wire) => wire >= evaluator.first).length;
    const rest = layout.n_cut ? ` Left out is what stands behind ${count(layout.n_cut, "gate")}, marked by dots; choose one to go on from it.` : "";
    const only_ = only.checked ? " Of two operands either of which would do, one is drawn." : "";
    told.textContent = `${showsAll ? "All" : "One wire and what it depends on"}: ${count(gates, "gate")} drawn.${rest}${only_}`;
  };
  const open = (wire: number): void => {
    [root, showsAll] = [wire, false];
    draw();
    explain(wire);
  };
  const explain = (wire: number): void => {
    drawing.mark(wire);
    details.replaceChildren(...describe(state, wire, groups, open));
  };
  only.addEventListener("change", draw);
  let last = state.chosen;
  state.subscribe(() => {
    if (only.checked || last !== state.chosen) draw();
    last = state.chosen;
  });

  const zoom = h(
    "div", {class: "picker", role: "group", "aria-label": "View"},
    button("+", () => drawing.zoom(1 / 1.3), {"aria-label": "Larger"}), button("−", () => drawing.zoom(1.3), {"aria-label": "Smaller"}),
    button("Fit", () => drawing.fit()), isWhole ? button("All gates", () => { showsAll = true; draw(); }) : null,
    h("label", {class: "tick", for: "only"}, only, "only what decides for this row"),
  );
  const canvas = h("div", {class: "canvas"}, drawing.root);
  const right = h("div", {class: "stage"}, zoom, canvas, told, details);
  draw();
  explain(root);
  const lead = "Each output that is true gives its votes to its class. Choose an output to see what it depends on, and a gate to read it. Wires in color carry a 1 for the row above.";
  const valued = "Each output that is true adds its votes to the value. Choose an output to see what it depends on, and a gate to read it. Wires in color carry a 1 for the row above.";
  return section(
    "circuit", "The circuit", facts.model.kind === "classes" ? lead : valued, makeLevels(facts),
    h("div", {class: "split circuit"}, makeOutputs(state, outputs, groups, group, open), right),
  );
}

/** What outputs give their votes to. */
export function nameGroups({kind, labels, n_groups}: ModelFacts): string[] {
  if (kind === "classes") return labels.map(String);
  return n_groups === 1 ? ["the value"] : Array.from({length: n_groups}, (_, k) => `value ${k + 1}`);
}

const isConstant = ({wire}: Output): boolean => wire < N_CONSTANTS;

/** The class that is answered, unless all its outputs are constants; else the one with the most outputs. */
function chooseGroup(state: State, outputs: Output[], n: number): number {
  const sizes = Array.from({length: n}, (_, k) => outputs.filter((each) => each.group === k && !isConstant(each)).length);
  const {winner} = state.answer;
  return state.facts.model.kind === "classes" && sizes[winner] ? winner : sizes.indexOf(Math.max(...sizes));
}

/** The outputs of a class, those with the most votes first, with what they are for the present row. */
function makeOutputs(state: State, outputs: Output[], groups: string[], group: number, open: (wire: number) => void): HTMLElement {
  const select = h("select", {id: "group"}, ...groups.map((name, k) => h("option", {value: k, selected: k === group}, clip(name, 50))));
  const list = h("ul", {class: "outputs", tabindex: 0, "aria-label": "Outputs"});
  const sum = h("p", {class: "quiet"});
  let own: Output[] = [];
  let items: [number, HTMLElement, HTMLElement][] = [];
  const mark = (): void => {
    for (const [wire, item, told] of items) {
      item.classList.toggle("on", state.wires[wire] === 1);
      told.textContent = state.wires[wire] ? " true" : " false";
    }
    const on = own.filter(({wire}) => state.wires[wire]);
    const votes = on.reduce((total, output) => total + output.votes, 0);
    const rest = own.length > MAX_OUTPUTS ? ` The ${MAX_OUTPUTS} with the most votes are listed.` : "";
    sum.textContent = `${integer(on.length)} of ${count(own.length, "output")} true: ${count(votes, "vote")}.${rest}`;
  };
  const fill = (): void => {
    own = outputs.filter((output) => output.group === Number(select.value));
    items = own.slice(0, MAX_OUTPUTS).map(({wire, votes}) => {
      const words = sayWire(state.evaluator, wire, state.questions, DEPTH);
      const told = h("span", {class: "sr"});
      const item = h("button", {type: "button", click: () => open(wire), title: words}, h("b", {}, integer(votes)), h("span", {}, clip(words, 110)), told);
      return [wire, item, told];
    });
    list.replaceChildren(...items.map(([, item]) => h("li", {}, item)));
    mark();
  };
  select.addEventListener("change", fill);
  fill();
  state.subscribe(mark);
  return h("div", {class: "outputs-box"}, h("label", {for: "group"}, "Outputs of"), select, sum, list);
}

/** A wire in words, what votes it has, and of a gate its truth table, the row that holds marked. */
function describe(state: State, wire: number, groups: string[], open: (wire: number) => void): Node[] {
  const {evaluator, wires, questions} = state;
  const title = h("h3", {}, wire < evaluator.first ? "A question about the row" : `Gate ${wire - evaluator.first}`);
  const words = h("p", {class: "words"}, sayWire(evaluator, wire, questions, 6));
  const votes = Array.from(evaluator.wires, (each, k) => [each, k]).filter(([each]) => each === wire)
    .map(([, k]) => `${count(evaluator.votes[k], "vote")} for ${isolate(clip(groups[evaluator.groups[k]], 40))}`);
  const role = h("p", {class: "quiet"}, `Now ${wires[wire] ? "true" : "false"}.${votes.length ? ` ${votes.join(", ")}.` : ""}`);
  if (wire < evaluator.first) return [title, words, role];
  const i = wire - evaluator.first;
  const [a, b] = [evaluator.a[i], evaluator.b[i]];
  const name = (operand: number): string => (operand < evaluator.first ? clip(sayWire(evaluator, operand, questions, 0), 34) : `gate ${operand - evaluator.first}`);
  const {reads} = FORMULAS[evaluator.gate[i]];
  const operands = reads.map((pin) => (pin === "a" ? a : b));
  const head = h("tr", {}, ...operands.map((operand) => h("th", {scope: "col"}, name(operand))), h("th", {scope: "col"}, "result"));
  const rows = Array.from({length: 2 ** reads.length}, (_, row) => {
    const values = reads.map((_pin, k) => (row >> (reads.length - 1 - k)) & 1);
    const [x, y] = [values[reads.indexOf("a")] ?? 0, values[reads.indexOf("b")] ?? 0];
    const holds = operands.every((operand, k) => wires[operand] === values[k]);
    const cells = [...values, evaluateGate(evaluator.gate[i], x, y)].map((value) => h("td", {}, value));
    return h("tr", {class: holds ? "now" : ""}, ...cells);
  });
  const table = h("table", {class: "truth-table"}, h("caption", {class: "sr"}, "Truth table"), h("thead", {}, head), h("tbody", {}, ...rows));
  return [title, words, role, table, button("Draw from here", () => open(wire))];
}
