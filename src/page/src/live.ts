// The live model: choose a row, change its columns, see the answer.
import type {Column} from "./facts";
import {button, clip, count, h, integer, percent, s, section, short} from "./dom";
import {findFlips, findMoves} from "./changes";
import {makePad} from "./pad";
import type {State} from "./state";
import {sayValue} from "./words";

const SHOWN = 14;
const MAX_CHANGES = 8;
const MAX_BARS = 12;

export function makeLive(state: State): HTMLElement {
  const {image} = state.facts;
  const left = image ? makePad(state, image) : makeControls(state);
  const lead = image
    ? "Draw, or start from an image of the table. The circuit answers at once, here in the page."
    : "Start from a row, change what you like. The circuit answers at once, here in the page.";
  const right = h("div", {class: "answer"}, makeAnswer(state), makeChanges(state));
  return section("live", "Try it", lead, makeRowPicker(state), h("div", {class: image ? "split pad-split" : "split"}, left, right));
}

function makeRowPicker(state: State): HTMLElement | null {
  const {sample, facts} = state;
  if (!sample) return null;
  const n = sample.rows.length;
  const {labels, kind} = facts.model;
  let at = 0;
  const number = h("input", {type: "number", id: "row", min: 1, max: n, value: 1, inputmode: "numeric"});
  const told = h("output", {class: "truth", for: "row"});
  const isWrong = (i: number): boolean => {
    const wires = state.evaluator.wiresOf(sample.take(i));
    const {winner} = state.answerOf(state.evaluator.countsOf(wires));
    return sample.truth !== null && sample.truth[i] >= 0 && winner !== sample.truth[i];
  };
  const show = (i: number): void => {
    at = ((i % n) + n) % n;
    number.value = String(at + 1);
    const truth = sample.truth?.[at];
    const known = truth === undefined || Number.isNaN(truth) || (kind === "classes" && truth < 0) ? null : truth;
    const words = known === null ? "" : `, truly ${kind === "classes" ? clip(String(labels[known]), 30) : short(known)}`;
    told.textContent = `row ${integer(sample.rows[at])} of the table${words}`;
    state.choose(sample.take(at));
  };
  const findWrong = (): void => {
    for (let step = 1; step <= n; ++step) if (isWrong((at + step) % n)) return show(at + step);
    told.textContent = "no wrong answer among these rows";
  };
  number.addEventListener("change", () => show(Number(number.value) - 1));
  show(0);
  return h(
    "div", {class: "picker"}, h("label", {for: "row"}, `Row 1 to ${integer(n)}`), number,
    button("Previous", () => show(at - 1)), button("Next", () => show(at + 1)),
    button("Any row", () => show(Math.floor(Math.random() * n))),
    sample.truth && kind === "classes" ? button("A wrong answer", findWrong) : null,
    button("Start again", () => state.choose(state.chosen)), told,
  );
}

function makeControls(state: State): HTMLElement {
  const order = state.facts.columns.map((_, i) => i).filter((i) => state.facts.columns[i].questions.length);
  order.sort((i, j) => (state.facts.columns[j].rise ?? 0) - (state.facts.columns[i].rise ?? 0));
  const list = h("div", {class: "controls"});
  const more = button("", () => reveal());
  const reveal = (): void => {
    for (const i of order.slice(list.children.length)) list.append(makeControl(state, i));
    more.remove();
  };
  for (const i of order.slice(0, SHOWN)) list.append(makeControl(state, i));
  if (order.length <= SHOWN) return list;
  more.textContent = `Show all ${integer(order.length)} columns`;
  return h("div", {}, list, more);
}

function makeControl(state: State, i: number): HTMLElement {
  const column = state.facts.columns[i];
  const id = `column-${i}`;
  const value = h("output", {for: id, class: "value"});
  const head = h("div", {class: "control-head"}, h("label", {for: id, title: column.name}, clip(column.name, 34)), column.kind === "category" ? null : value);
  const input = column.kind === "category" ? makeSelect(column, id) : makeSlider(column, id);
  const missing = column.asks_missing && column.kind !== "category" ? h("input", {type: "checkbox"}) : null;
  input.addEventListener("input", () => {
    if (missing) missing.checked = false;
    state.change(i, read(column, input.value));
  });
  missing?.addEventListener("change", () => state.change(i, missing.checked ? NaN : read(column, input.value)));
  state.subscribe(() => {
    const now = state.numbers[i];
    value.textContent = clip(sayValue(column, now), 30);
    if (missing) missing.checked = Number.isNaN(now);
    if (column.kind === "category") input.value = String(Number.isNaN(now) || column.codes.includes(now) ? now : Infinity);
    else if (!Number.isNaN(now) && read(column, input.value) !== now) input.value = String(now);
  });
  const strip = column.kind === "category" ? null : makeStrip(column);
  const tick = missing ? h("label", {class: "tick"}, missing, "missing") : null;
  return h("div", {class: "control"}, head, strip, input, tick);
}

/** What a control says, as a number; sliders of numbers that are not whole are rounded to what one can see. */
function read(column: Column, text: string): number {
  if (text === "NaN") return NaN;
  const value = Number(text);
  if (column.kind === "category" || column.is_whole) return value;
  const step = 10 ** Math.floor(Math.log10((column.high - column.low) / 200 || 1));
  return Number((Math.round(value / step) * step).toPrecision(12));
}

function makeSelect(column: Column, id: string): HTMLSelectElement {
  const options = column.codes.map((code, k) => h("option", {value: String(code)}, clip(column.values[k], 60)));
  options.push(h("option", {value: "Infinity"}, "any other"));
  if (column.asks_missing) options.push(h("option", {value: "NaN"}, "missing"));
  return h("select", {id}, ...options);
}

function makeSlider(column: Column, id: string): HTMLInputElement {
  const {low, high} = column;
  return h("input", {type: "range", id, min: low, max: high > low ? high : low + 1, step: column.is_whole ? 1 : "any"});
}

/** The histogram of a column above its slider, with a line for each threshold. */
function makeStrip(column: Column): SVGSVGElement {
  const {low, high, histogram, thresholds} = column;
  const at = (value: number): number => (100 * (Math.min(Math.max(value, low), high) - low)) / (high - low || 1);
  const root = s("svg", {class: "strip", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true"});
  const most = Math.max(1, ...(histogram?.counts ?? []));
  histogram?.counts.forEach((n, k) => {
    const [x0, x1] = [at(histogram.edges[k]), at(histogram.edges[k + 1])];
    const height = 18 * Math.sqrt(n / most);
    root.append(s("rect", {class: "bar", x: x0, y: 20 - height, width: Math.max(x1 - x0 - 0.4, 0.3), height}));
  });
  for (const threshold of thresholds) {
    const x = at(threshold);
    root.append(s("line", {class: "threshold", x1: x, x2: x, y1: 0, y2: 20, "vector-effect": "non-scaling-stroke"}));
  }
  return root;
}

function makeAnswer(state: State): HTMLElement {
  const {labels, kind, n_groups} = state.facts.model;
  const isClasses = kind === "classes";
  const title = h("p", {class: "big", id: "answer", "aria-live": "polite"});
  const names = isClasses ? labels.map(String) : Array.from({length: n_groups}, (_, k) => (n_groups > 1 ? `value ${k + 1}` : "value"));
  const bars = names.slice(0, 40).map((name) => {
    const fill = h("span", {class: "fill"});
    const told = h("span", {class: "told"});
    const row = h("li", {}, h("span", {class: "name", title: name}, clip(name, 24)), h("span", {class: "track"}, fill), told);
    return {row, fill, told};
  });
  const list = h("ul", {class: n_groups > MAX_BARS ? "bars dense" : "bars"}, ...(isClasses ? bars.map(({row}) => row) : []));
  const flipped = h("p", {class: "quiet"});
  state.subscribe(() => {
    const {answer, wires, before, evaluator} = state;
    title.textContent = isClasses ? clip(String(labels[answer.winner]), 60) : answer.scores.map(short).join(", ");
    bars.forEach(({row, fill, told}, k) => {
      if (!isClasses) return;
      fill.style.width = `${100 * answer.shares[k]}%`;
      told.textContent = percent(answer.shares[k]);
      row.classList.toggle("won", k === answer.winner);
    });
    let [bits, gates] = [0, 0];
    for (let i = 2; i < wires.length; ++i) {
      if (wires[i] !== before[i]) i < evaluator.first ? ++bits : ++gates;
    }
    const said = `${count(bits, "bit")} and ${count(gates, "gate")} differ from the row`;
    flipped.textContent = bits ? said : "As in the row that was chosen.";
  });
  return h("div", {}, h("h3", {}, "The answer"), title, list, flipped);
}

function makeChanges(state: State): HTMLElement {
  const {kind, labels} = state.facts.model;
  const list = h("ol", {class: "changes"});
  const note = h("p", {class: "quiet"});
  const isClasses = kind === "classes";
  let [waiting, most] = [0, MAX_CHANGES];
  const more = button("Show all changes", () => {
    most = Infinity;
    fill();
  });
  const fill = (): void => {
    waiting = 0;
    const found = isClasses ? findFlips(state) : findMoves(state);
    list.replaceChildren(...found.slice(0, most).map((change) => {
      const subject = state.facts.image ? state.questions[state.evaluator.firstBit[change.column]].is.split(" > ")[0] : state.facts.columns[change.column].name;
      const gives = isClasses ? String(labels[change.answer.winner]) : short(change.answer.scores[0]);
      const text = `${clip(subject, 30)} ${/^[≤>]/.test(change.words) ? "" : "= "}${clip(change.words, 30)} → ${clip(gives, 30)}`;
      return h("li", {}, button(text, () => state.change(change.column, change.value), {title: "Make this change"}));
    }));
    const none = isClasses ? "No change of a single column alone gives another answer." : "No column changes the value.";
    const some = isClasses
      ? "The nearest change of each column, by share of its range; all of them were tried."
      : "The change of each column that moves the value most; all of them were tried.";
    more.hidden = found.length <= most;
    note.textContent = found.length ? some : none;
  };
  // After the answer is painted: thousands of changes may take longer than a frame.
  state.subscribe(() => { waiting ||= requestAnimationFrame(() => setTimeout(fill)); });
  return h("div", {}, h("h3", {}, isClasses ? "What would have to change" : "What would change it most"), list, more, note);
}
