// The live model: choose a row, change its columns, see the answer.
import type {Column} from "./facts";
import {nameGroups} from "./circuit";
import {button, clip, count, h, integer, isolate, percent, s, section, short} from "./dom";
import {findFlips, findMoves} from "./changes";
import {makePad} from "./pad";
import type {State} from "./state";
import {sayCategory, sayValue} from "./words";

const SHOWN = 14;
const MAX_CHANGES = 8;
const MAX_BARS = 12;
const MAX_VALUES = 40;

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
    const words = known === null ? "" : `, truly ${kind === "classes" ? isolate(clip(String(labels[known]), 30)) : short(known)}`;
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
    const isListed = Number.isNaN(now) ? column.asks_missing : column.codes.includes(now);
    if (column.kind === "category") input.value = String(isListed ? now : Infinity);
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
  const options = column.codes.map((code, k) => h("option", {value: String(code)}, clip(sayCategory(column.values[k]), 60)));
  options.push(h("option", {value: "Infinity"}, column.asks_missing ? "any other" : "any other, or missing"));
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
  const list = isClasses ? makeShares(state) : n_groups > 1 ? makeScores(state) : null;
  const flipped = h("p", {class: "quiet"});
  state.subscribe(() => {
    const {answer, wires, before, evaluator} = state;
    title.textContent = isClasses ? clip(String(labels[answer.winner]), 60) : sayScores(state);
    let [bits, gates] = [0, 0];
    for (let i = 2; i < wires.length; ++i) {
      if (wires[i] !== before[i]) i < evaluator.first ? ++bits : ++gates;
    }
    const said = `${count(bits, "bit")} and ${count(gates, "gate")} differ from the row`;
    flipped.textContent = bits ? said : "As in the row that was chosen.";
  });
  return h("div", {}, h("h3", {}, "The answer"), title, list, flipped);
}

/** Probabilities of the classes as bars; of many classes those of the most probable ones, first the answer. */
function makeShares(state: State): HTMLElement {
  const labels = state.facts.model.labels.map(String);
  const bars = labels.slice(0, MAX_BARS).map(() => {
    const [name, fill, told] = [h("span", {class: "name"}), h("span", {class: "fill"}), h("span", {class: "told"})];
    return {row: h("li", {}, name, h("span", {class: "track"}, fill), told), name, fill, told};
  });
  state.subscribe(() => {
    const {shares, winner} = state.answer;
    const order = labels.map((_, k) => k);
    if (order.length > MAX_BARS) order.sort((x, y) => shares[y] - shares[x] || x - y);
    bars.forEach(({row, name, fill, told}, k) => {
      const label = labels[order[k]];
      [name.textContent, name.title] = [clip(label, 24), label];
      fill.style.width = `${100 * shares[order[k]]}%`;
      told.textContent = percent(shares[order[k]]);
      row.classList.toggle("won", order[k] === winner);
    });
  });
  const rest = labels.length - bars.length;
  const note = rest > 0 ? h("p", {class: "quiet"}, `${count(rest, "class")} less probable than these`) : null;
  return h("div", {}, h("ul", {class: "bars"}, ...bars.map(({row}) => row)), note);
}

/** Several values, one below the other; of labels whether a row has them, which values above 0 say. */
function makeScores(state: State): HTMLElement {
  const told = nameGroups(state.facts.model).slice(0, MAX_VALUES).map((name) => ({name, value: h("span", {class: "value"})}));
  const isLabels = hasLabels(state);
  state.subscribe(() => {
    told.forEach(({value}, k) => {
      const score = state.answer.scores[k];
      value.textContent = isLabels ? `${score > 0 ? "yes" : "no"} (${short(score)})` : short(score);
    });
  });
  return h("ul", {class: "scores"}, ...told.map(({name, value}) => h("li", {}, h("span", {class: "name"}, name), value)));
}

const hasLabels = ({facts}: State): boolean => facts.quality !== null && "hits" in facts.quality;

function sayScores(state: State): string {
  const {scores} = state.answer;
  if (scores.length === 1) return short(scores[0]);
  if (hasLabels(state)) return `${integer(scores.filter((score) => score > 0).length)} of ${count(scores.length, "label")}`;
  return count(scores.length, "value");
}

function makeChanges(state: State): HTMLElement {
  const {kind, labels} = state.facts.model;
  const list = h("ol", {class: "changes"});
  const note = h("p", {class: "quiet"});
  const isClasses = kind === "classes";
  const what = state.facts.image ? "pixel" : "column";
  const value = nameGroups(state.facts.model)[0];
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
      const text = `${isolate(clip(subject, 30))} ${/^[≤>]/.test(change.words) ? "" : "= "}${clip(change.words, 30)} → ${isolate(clip(gives, 30))}`;
      return h("li", {}, button(text, () => state.change(change.column, change.value), {title: "Make this change"}));
    }));
    const none = isClasses ? `No change of a single ${what} alone gives another answer.` : "No column changes the value.";
    const some = isClasses
      ? `The nearest change of each ${what}, by share of its range; all of them were tried.`
      : `The change of each ${what} that moves ${value} most; all of them were tried.`;
    more.hidden = found.length <= most;
    note.textContent = found.length ? some : none;
  };
  // After the answer is painted: thousands of changes may take longer than a frame.
  state.subscribe(() => { waiting ||= requestAnimationFrame(() => setTimeout(fill)); });
  return h("div", {class: "changes-box"}, h("h3", {}, isClasses ? "What would have to change" : "What would change it most"), list, more, note);
}
