// What the model looks at: columns by importance, with their questions on their histograms; of images a map.
import type {Column, Facts} from "./facts";
import {button, clip, count, figure, h, integer, isolate, s, section, short} from "./dom";
import {askAll, sayCategory} from "./words";

const SHOWN = 12;

export function makeColumns(facts: Facts): HTMLElement | null {
  const read = facts.columns.filter((column) => column.questions.length);
  if (!read.length) return null;
  const hasRises = read.some((column) => column.rise !== null);
  const lead = hasRises
    ? `Importance is how much ${facts.quality ? "the loss rises" : "the scores change"} when the values of a column are those of other rows, measured by the circuit itself.${facts.image ? "" : " Lines below the histograms are the questions that it asks."}`
    : "The questions that the circuit asks about each column.";
  const unread = facts.columns.length - read.length;
  const note = unread && !facts.image ? h("p", {class: "quiet"}, `Not read: ${clip(facts.columns.filter((column) => !column.questions.length).map(({name}) => name).join(", "), 300)}.`) : null;
  if (facts.image) return section("columns", "What it looks at", lead, makeMaps(facts, facts.image));
  const most = Math.max(...read.map((column) => column.rise ?? 0), 1e-12);
  const order = [...read].sort((x, y) => (y.rise ?? 0) - (x.rise ?? 0));
  const list = h("div", {class: "cards"}, ...order.slice(0, SHOWN).map((column) => makeCard(facts, column, most)));
  const more = button(`Show all ${integer(order.length)} columns`, () => {
    list.append(...order.slice(SHOWN).map((column) => makeCard(facts, column, most)));
    more.remove();
  });
  return section("columns", "What it looks at", lead, list, order.length > SHOWN ? more : null, note);
}

function makeCard(facts: Facts, column: Column, most: number): HTMLElement {
  const rise = Math.max(column.rise ?? 0, 0);
  const fill = h("span", {class: "fill"});
  fill.style.width = `${(100 * rise) / most}%`;
  const questions = askAll([column], null).map(({is}) => is);
  return h(
    "article", {class: "card"},
    h("h3", {title: column.name}, clip(column.name, 32)),
    column.rise === null ? null : h("div", {class: "importance"}, h("span", {class: "track"}, fill), h("span", {class: "told"}, short(Number(column.rise.toPrecision(3))))),
    column.histogram ? makeHistogram(facts, column) : null,
    h("details", {}, h("summary", {}, count(questions.length, "question")), h("ul", {class: "questions"}, ...questions.slice(0, 80).map((text) => h("li", {}, text)))),
  );
}

function makeHistogram(facts: Facts, column: Column): HTMLElement {
  const histogram = column.histogram!;
  if (column.kind === "category") return makeCategories(facts, column);
  const {edges, counts, means} = histogram;
  const [width, height, low, high] = [280, 70, edges[0], edges[edges.length - 1]];
  const at = (value: number): number => (width * (Math.min(Math.max(value, low), high) - low)) / (high - low || 1);
  const most = Math.max(1, ...counts);
  const root = s("svg", {class: "histogram", viewBox: `0 0 ${width} ${height + 16}`, role: "img", "aria-label": `${count(counts.reduce((x, y) => x + y, 0), "row")} from ${short(low)} to ${short(high)}, ${count(column.thresholds.length, "threshold")}`});
  counts.forEach((n, k) => {
    const size = (height * n) / most;
    root.append(s("rect", {class: "bar", x: at(edges[k]) + 0.5, y: height - size, width: Math.max(at(edges[k + 1]) - at(edges[k]) - 1, 0.5), height: size}));
  });
  for (const threshold of column.thresholds) root.append(s("line", {class: "threshold", x1: at(threshold), x2: at(threshold), y1: height, y2: height + 5}));
  const [least, greatest] = rangeOfMeans(facts);
  const points = means.flatMap((mean, k) => (mean === null ? [] : [[at((edges[k] + edges[k + 1]) / 2), height - ((mean - least) / (greatest - least || 1)) * height]]));
  if (points.length > 1) root.append(s("path", {class: "line mean", d: points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("")}));
  const [from, to] = column.kind === "time" ? ["", ""] : [Math.max(low, column.low), Math.min(high, column.high)].map((end) => short(Number(end.toPrecision(4))));
  root.append(s("text", {x: 0, y: height + 15}, from), s("text", {x: width, y: height + 15, "text-anchor": "end"}, to));
  const missing = histogram.n_missing ? `, ${count(histogram.n_missing, "row")} without a value` : "";
  const label = facts.model.kind === "classes" ? `probability of ${isolate(clip(String(facts.model.labels[1]), 24))}` : `mean value, ${short(least)} to ${short(greatest)}`;
  return figure(`rows${points.length > 1 ? `; line: ${label}` : ""}${missing}`, root);
}

/** The same range for all columns, so that a column of no effect has a line without hills. */
function rangeOfMeans({model, columns}: Facts): [number, number] {
  if (model.kind === "classes") return [0, 1];
  const means = columns.flatMap(({histogram}) => histogram?.means ?? []).filter((mean) => mean !== null);
  return [Math.min(...means), Math.max(...means)];
}

function makeCategories(facts: Facts, column: Column): HTMLElement {
  const {counts, means, n_other, n_missing, mean_other, mean_missing} = column.histogram!;
  const most = Math.max(1, n_other, ...counts);
  const rows = column.values.map((value, k): [string, number, number | null] => [sayCategory(value), counts[k], means[k] ?? null]);
  rows.sort((x, y) => y[1] - x[1]);
  if (n_other) rows.push(["any other", n_other, mean_other]);
  if (n_missing) rows.push(["missing", n_missing, mean_missing]);
  const items = rows.slice(0, 8).map(([value, n, mean]) => {
    const fill = h("span", {class: "fill"});
    fill.style.width = `${(100 * n) / most}%`;
    const told = mean === null ? (means.length ? "" : integer(n)) : facts.model.kind === "classes" ? `${Math.round(100 * mean)} %` : short(Number(mean.toPrecision(3)));
    return h("li", {title: `${value}: ${count(n, "row")}`}, h("span", {class: "name"}, clip(value, 20)), h("span", {class: "track"}, fill), h("span", {class: "told"}, told));
  });
  const rest = rows.length > 8 ? `, ${rows.length - 8} more` : "";
  const label = facts.model.kind === "classes" && facts.model.labels.length === 2 ? `; number: probability of ${isolate(clip(String(facts.model.labels[1]), 24))}` : means.length ? "; number: mean value" : "; number: rows";
  return figure(`rows${label}${rest}`, h("ul", {class: "bars small"}, ...items));
}

function makeMaps(facts: Facts, image: [number, number]): HTMLElement {
  const rises = facts.columns.map((column) => Math.max(column.rise ?? 0, 0));
  const questions = facts.columns.map((column) => column.questions.length);
  const used = questions.filter((n) => n).length;
  const maps = [makeMap(questions, image, `Questions about each pixel, up to ${integer(Math.max(...questions))}; ${integer(used)} of ${count(questions.length, "pixel")} are read`)];
  if (facts.columns.some(({rise}) => rise !== null)) maps.push(makeMap(rises, image, `Importance of each pixel, up to ${short(Number(Math.max(...rises).toPrecision(2)))}`));
  return h("div", {class: "maps"}, ...maps);
}

function makeMap(values: number[], [height, width]: [number, number], caption: string): HTMLElement {
  const most = Math.max(...values, 1e-12);
  const root = s("svg", {class: "map", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": caption});
  values.forEach((value, i) => {
    root.append(s("rect", {x: i % width, y: Math.floor(i / width), width: 1, height: 1, "fill-opacity": (value / most) ** 0.7}));
  });
  return figure(caption, root);
}
