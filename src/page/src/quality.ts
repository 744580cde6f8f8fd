// How good the answers are: of classes and of values.
import type {ClassQuality, Facts, LabelQuality, SeveralQuality, ValueQuality} from "./facts";
import {Chart, clip, count, figure, h, integer, percent, s, section, short, tile} from "./dom";

export function makeQuality(facts: Facts): HTMLElement | null {
  const {quality} = facts;
  if (!quality) return null;
  if ("confusion" in quality) return makeClasses(facts, quality);
  return "hits" in quality ? makeLabels(quality) : "values" in quality ? makeSeveral(quality) : makeValues(quality);
}

function makeClasses(facts: Facts, quality: ClassQuality): HTMLElement {
  const labels = facts.model.labels.map(String);
  const unknown = quality.n_unknown ? ` ${count(quality.n_unknown, "row")} of classes that the model does not know are left out.` : "";
  const tiles = h("dl", {class: "tiles"}, tile(percent(quality.accuracy, 2), "accuracy"), tile(short(Number(quality.log_loss.toPrecision(3))), "log loss"), tile(integer(quality.n_rows), "rows"));
  const isWhole = quality.confusion.length > 0;
  const parts = h("div", {class: "grid-two"}, isWhole ? makeConfusion(labels, quality.confusion) : null, makeCalibration(labels, quality));
  const cut = quality.cuts.length > 1 ? makeThreshold(labels, quality) : null;
  return section("quality", "How good it is", `On ${count(quality.n_rows, "row")} of the table.${unknown}`, tiles, parts, cut, isWhole ? makePerClass(labels, quality.confusion) : null);
}

function makeConfusion(labels: string[], confusion: number[][]): HTMLElement {
  const head = h("tr", {}, h("th", {scope: "col"}, "true \\ answer"), ...labels.map((label) => h("th", {scope: "col", title: label}, clip(label, 12))));
  const rows = confusion.map((row, i) => {
    const total = row.reduce((sum, n) => sum + n, 0) || 1;
    return h("tr", {}, h("th", {scope: "row", title: labels[i]}, clip(labels[i], 16)), ...row.map((n, k) => {
      const cell = h("td", {class: i === k ? "right" : "wrong"}, n ? integer(n) : "·");
      cell.style.setProperty("--shade", `${Math.round((40 * n) / total)}%`);
      return cell;
    }));
  });
  const table = h("table", {class: "confusion"}, h("thead", {}, head), h("tbody", {}, ...rows));
  return figure("Rows by true class and answer", h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Rows by true class and answer"}, table));
}

function makeCalibration(labels: string[], quality: ClassQuality): HTMLElement {
  const what = labels.length === 2 ? `of ${clip(labels[1], 20)}` : "of the answer";
  const points = quality.calibration.map(([stated, found]): [number, number] => [stated, found]);
  const most = Math.max(...quality.calibration.map(([, , n]) => n));
  const said = quality.calibration.map(([stated, found]) => `${percent(stated, 0)} stated, ${percent(found, 0)} found`).join("; ");
  const chart = new Chart({width: 360, height: 260, left: 40, bottom: 40, x: [0, 1], y: [0, 1]}, `Calibration: ${said}`, `stated probability ${what}`, "share that came true");
  chart.line([[0, 0], [1, 1]], "ideal").line(points, "one").dots(points, "one", (i) => 2.5 + 4 * Math.sqrt(quality.calibration[i][2] / most));
  return figure("Calibration: on the diagonal, probabilities mean what they say", chart.root);
}

function makeThreshold(labels: string[], quality: ClassQuality): HTMLElement {
  const {cuts, n_rows, confusion} = quality;
  const positives = confusion[1][0] + confusion[1][1];
  const precision = (k: number): number => (cuts[k][1] + cuts[k][2] ? cuts[k][1] / (cuts[k][1] + cuts[k][2]) : 1);
  const recall = (k: number): number => (positives ? cuts[k][1] / positives : 0);
  const points = cuts.map((_, k): [number, number] => [recall(k), precision(k)]);
  const chart = new Chart({width: 360, height: 240, left: 40, bottom: 40, x: [0, 1], y: [0, 1]}, "Precision by recall", "recall", "precision");
  chart.line(points, "one");
  const mark = s("circle", {class: "dot mark", r: 6});
  chart.root.append(mark);
  const start = Math.max(0, cuts.findIndex(([p]) => p >= 0.5));
  const slider = h("input", {type: "range", id: "cut", min: 0, max: cuts.length - 1, step: 1, value: start});
  const [title, told] = [h("output", {for: "cut", class: "value"}), h("dl", {class: "tiles"})];
  const show = (): void => {
    const k = Number(slider.value);
    const [p, hits, alarms] = cuts[k];
    const right = hits + (n_rows - positives - alarms);
    title.textContent = `from probability ${p.toFixed(3)} on`;
    slider.setAttribute("aria-valuetext", title.textContent);
    told.replaceChildren(tile(percent(precision(k)), "precision"), tile(percent(recall(k)), "recall"), tile(percent(right / n_rows), "accuracy"), tile(integer(hits + alarms), "rows answered so"));
    const [x, y] = chart.at(recall(k), precision(k));
    mark.setAttribute("cx", String(x));
    mark.setAttribute("cy", String(y));
  };
  slider.addEventListener("input", show);
  show();
  const control = h("div", {class: "control"}, h("div", {class: "control-head"}, h("label", {for: "cut"}, `Answer ${clip(labels[1], 30)}`), title), slider, told);
  return h("div", {class: "grid-two"}, figure("Another threshold", control), figure("Precision by recall", chart.root));
}

function makePerClass(labels: string[], confusion: number[][]): HTMLElement {
  const rows = labels.map((label, k): [string, string[]] => {
    const [hits, own, answered] = [confusion[k][k], confusion[k].reduce((sum, n) => sum + n, 0), confusion.reduce((sum, row) => sum + row[k], 0)];
    return [label, rateOne(hits, own, answered)];
  });
  return makeTable("Class by class", ["class", ...RATES], rows);
}

const RATES = ["rows", "precision", "recall", "F1"];

function rateOne(hits: number, own: number, answered: number): string[] {
  const share = (part: number, all: number): string => (all ? percent(part / all) : "–");
  return [integer(own), share(hits, answered), share(hits, own), share(2 * hits, own + answered)];
}

function makeTable(caption: string, titles: string[], rows: [string, string[]][]): HTMLElement {
  const head = h("tr", {}, ...titles.map((title) => h("th", {scope: "col"}, title)));
  const body = rows.map(([name, cells]) => h("tr", {}, h("th", {scope: "row", title: name}, clip(name, 40)), ...cells.map((text) => h("td", {}, text))));
  const table = h("table", {class: "numbers"}, h("thead", {}, head), h("tbody", {}, ...body));
  return figure(caption, h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption}, table));
}

/** Several yes-or-no labels: a value above 0 says yes. */
function makeLabels(quality: LabelQuality): HTMLElement {
  const tiles = h("dl", {class: "tiles"}, tile(percent(quality.exact, 2), "rows with all labels right"), tile(integer(quality.n_rows), "rows"));
  const rows = quality.hits.map((hits, k): [string, string[]] => [`value ${k + 1}`, rateOne(hits, quality.owners[k], quality.answered[k])]);
  return section("quality", "How good it is", `On ${count(quality.n_rows, "row")} of the table. A value above 0 says that a row has the label.`, tiles, makeTable("Label by label", ["label", ...RATES], rows));
}

function makeSeveral({n_rows, values}: SeveralQuality): HTMLElement {
  const rows = values.map(({r2, rmse, mae}, k): [string, string[]] => [`value ${k + 1}`, [sayR2(r2), short(rmse), short(mae)]]);
  return section("quality", "How good it is", `On ${count(n_rows, "row")} of the table.`, makeTable("Value by value", ["value", "R²", "root mean square error", "mean error"], rows));
}

const sayR2 = (r2: number | null): string => (r2 === null ? "–" : r2.toFixed(3).replace("-", "−"));

function makeValues(quality: ValueQuality): HTMLElement {
  const tiles = h("dl", {class: "tiles"}, tile(sayR2(quality.r2), "R²"), tile(short(quality.rmse), "root mean square error"), tile(short(quality.mae), "mean error"), tile(percent(quality.below), "of the rows are not above the prediction"), tile(integer(quality.n_rows), "rows"));
  const all = quality.points.flat();
  const range: [number, number] = [Math.min(...all), Math.max(...all)];
  const size = {width: 360, height: 280, left: 56, bottom: 40};
  const scatter = new Chart({...size, x: range, y: range}, "Predicted values by true ones", "true", "predicted");
  scatter.line([[range[0], range[0]], [range[1], range[1]]], "ideal").dots(quality.points, "faint", () => 2.5);
  const {edges, counts} = quality;
  const residuals = new Chart({...size, x: [edges[0], edges[edges.length - 1]], y: [0, Math.max(...counts)]}, "Rows by residual", "true minus predicted", "rows");
  residuals.bars(edges, counts);
  const parts = h("div", {class: "grid-two"}, figure(`Predicted by true value, ${count(quality.points.length, "row")}`, scatter.root), figure("Residuals", residuals.root));
  return section("quality", "How good it is", `On ${count(quality.n_rows, "row")} of the table.`, tiles, parts);
}
