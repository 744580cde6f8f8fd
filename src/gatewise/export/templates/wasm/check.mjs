// Exits with 0 if the module gives the answers in vectors.txt, which come from gatewise's reference evaluator; else
// with 1 for wrong counts, 2 for wrong answers of the head, 3 for those of packed bits.
import {readFileSync} from "node:fs";

import {labels, load, Row, toBlocks} from "./model.mjs";

const tokens = readFileSync(new URL("./vectors.txt", import.meta.url), "utf8").split(/\s+/);
const matrices = {};
let n;  // rows
for (let at = 0; at + 2 < tokens.length;) {
  const [name, nRows, nColumns] = [tokens[at], Number(tokens[at + 1]), Number(tokens[at + 2])];
  matrices[name] = tokens.slice(at + 3, at + 3 + nRows * nColumns).map(Number);
  at += 3 + nRows * nColumns;
  n = nRows;
}

const isNear = (x, expected, tolerance) => Object.is(x, expected) || Math.abs(x - expected) <= tolerance;

function compare(code, found, expected, tolerance = 0) {
  if (found.length === expected.length && expected.every((x, i) => isNear(found[i], x, tolerance))) return;
  console.error(`answers must be those of the reference evaluator, got others; kind ${code}`);
  process.exit(code);
}

const {rows, bits, counts, scores, proba, classes} = matrices;
const all = Row.from(rows);
const width = rows.length / n;
const blocks = toBlocks(bits, n);
const model = await load();
const byRow = (method) => Array.from({length: n}, (_, i) => model[method](rows.slice(i * width, (i + 1) * width)));

compare(1, model.countsRows(all, n), counts);
compare(1, byRow("counts").flatMap((found) => [...found]), counts);
compare(3, model.countsBlocks(blocks, n), counts);
if (scores) compare(2, model.scoresRows(all, n), scores);
if (classes) {
  compare(2, model.probaRows(all, n), proba, 1e-12);
  compare(2, model.predictRows(all, n), classes);
  compare(2, byRow("predict"), classes.map((k) => labels[k]));
  compare(3, model.predictBlocks(blocks, n), classes);
} else if (scores) {
  compare(2, byRow("predict").flatMap((found) => (typeof found === "number" ? found : [...found])), scores);
}
