// What the model is, how it was trained, what was proved about it, and how the page was made.
import type {Facts, Proof, TrainingRecord} from "./facts";
import {makeStacks} from "./circuit";
import {Chart, clip, count, figure, h, integer, isolate, percent, section, short, tile} from "./dom";

export function makeHeader(facts: Facts): HTMLElement {
  const {model, quality} = facts;
  const answers = model.kind === "classes" ? `answers ${listed(model.labels.map(String))}` : model.n_groups > 1 ? `predicts ${count(model.n_groups, "value")}` : "predicts a value";
  const found = !quality ? "" : "confusion" in quality
    ? ` ${percent(quality.accuracy)} of ${count(quality.n_rows, "row")} are answered rightly.`
    : "hits" in quality ? ` All labels of ${percent(quality.exact)} of ${count(quality.n_rows, "row")} are right.`
    : "values" in quality || quality.r2 === null ? "" : ` It explains ${percent(quality.r2)} of the variance of ${count(quality.n_rows, "row")}.`;
  const gates = model.n_gates ? `${count(model.n_gates, "gate")} in ${count(model.n_levels, "level")}` : "no gates";
  const lead = `A circuit of ${gates} reads ${count(model.n_columns, "column")} as ${count(model.n_bits, "bit")} and ${answers}${answers.endsWith("…") ? "" : "."}${found}`;
  const size = model.n_bytes < 1e5 ? `${(model.n_bytes / 1000).toFixed(1)} kB` : `${(model.n_bytes / 1e6).toFixed(1)} MB`;
  const tiles = h("dl", {class: "tiles"}, tile(integer(model.n_gates), "gates"), tile(integer(model.n_levels), "levels"), tile(integer(model.n_bits), "bits of a row"), tile(size, "file"), tile(time(model.ns_per_bits), "per row, from bits"), model.ns_per_row === null ? null : tile(time(model.ns_per_row), "per row, from the table"));
  const left = facts.left_out.map((text) => h("p", {class: "left-out"}, text));
  return h("header", {class: "intro"}, h("h1", {}, clip(facts.title, 200)), h("p", {class: "lead"}, lead), tiles, ...left);
}

const time = (ns: number): string => (ns < 1000 ? `${ns < 10 ? ns.toFixed(1) : Math.round(ns)} ns` : ns < 1e6 ? `${(ns / 1000).toFixed(1)} µs` : `${(ns / 1e6).toFixed(1)} ms`);

function listed(labels: string[]): string {
  const shown = labels.slice(0, 12).map((label) => isolate(clip(label, 24)));
  if (labels.length > 12) return `${shown.slice(0, 5).join(", ")} or one of ${labels.length - 5} more`;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} or ${shown[shown.length - 1]}` : shown[0];
}

export function makeTraining({history}: Facts): HTMLElement | null {
  if (!history.length) return null;
  const last = history[history.length - 1];
  const lead = `${count(last.epoch, "epoch")} in ${short(Number(last.seconds.toPrecision(2)))} s. The network is what was trained, the circuit is what is left of it; the gap is by how much the circuit is worse.`;
  const charts = [
    makeCurves(history, "loss", [["loss", "one", "training rows"], ["soft_loss", "two", "network"]]),
    makeCurves(history, "score", [["score", "one", "circuit"], ["soft_score", "two", "network"]]),
    makeCurves(history, "gap", [["gap", "one", "network minus circuit"]]),
  ];
  const layers = last.gates.length ? makeStacks("Gates of each layer at the end, before the circuit was simplified", last.gates, "layer") : null;
  return section("training", "How it was trained", lead, h("div", {class: "grid-three"}, ...charts), layers);
}

type Field = "loss" | "soft_loss" | "score" | "soft_score" | "gap";

function makeCurves(history: TrainingRecord[], title: string, fields: [Field, string, string][]): HTMLElement {
  const all = fields.flatMap(([field]) => history.map((record) => record[field])).filter(Number.isFinite);
  const [first, last] = [history[0].epoch, history[history.length - 1].epoch];
  const y: [number, number] = [Math.min(...all), Math.max(...all)];
  const chart = new Chart({width: 330, height: 220, left: 48, bottom: 40, x: [first, last], y}, `${title} by epoch`, "epoch", title);
  for (const [field, kind] of fields) chart.line(history.map((record) => [record.epoch, record[field]]), kind);
  const legend = h("p", {class: "legend"}, ...fields.map(([, kind, name]) => h("span", {}, h("i", {class: `key ${kind}`}), name)));
  return figure(title, chart.root, legend);
}

export function makeProofs({proofs}: Facts): HTMLElement | null {
  if (!proofs.length) return null;
  const lead = "Each of these was asked about every row there can be, not only those of a table; a solver answered.";
  return section("proofs", "What was proved", lead, h("ul", {class: "proofs"}, ...proofs.map(makeProof)));
}

function makeProof({question, status, effort, counterexample, answers}: Proof): HTMLElement {
  const known = ["proved", "refuted", "undecided"].includes(String(status)) ? String(status) : "answered";
  const seconds = effort?.seconds === undefined ? "" : `${short(Number(effort.seconds.toPrecision(2)))} s`;
  const rows = (counterexample ?? []).map((row, i) => {
    const cells = Object.entries(row).map(([name, value]) => `${name} = ${value}`).join(", ");
    return h("li", {}, `${clip(cells, 600)}: ${String(answers?.[i] ?? "")}`);
  });
  return h("li", {}, h("span", {class: `badge ${known}`}, known), h("span", {}, String(question ?? "")), h("span", {class: "quiet"}, ` ${seconds}`), rows.length ? h("ul", {class: "quiet"}, ...rows) : null);
}

export function makeAbout({model, commands, sample}: Facts): HTMLElement {
  const made = commands.length ? [h("h3", {}, "Made by"), h("pre", {tabindex: 0}, h("code", {}, commands.join("\n")))] : [];
  const rows = sample ? " Some rows of the table are in the page; give it only to those who may see them." : "";
  const words = `The model is in this page and runs in it: nothing is sent anywhere, and nothing is asked for.${rows}`;
  const machine = `Times were measured on ${model.machine}, ${count(model.threads, "thread")}. In the console, gatewise.predict(gatewise.numbers()) answers the row above.`;
  return section("about", "About this page", "", h("p", {}, words), h("p", {class: "quiet"}, machine), ...made);
}
