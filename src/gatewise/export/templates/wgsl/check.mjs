// Compares the model with the answers in vectors.txt, which come from gatewise's reference evaluator.
import {labels, load, Row, toWords} from "./model.mjs";

const isNear = (x, expected, tolerance) => Object.is(x, expected) || Math.abs(x - expected) <= tolerance;

/**
   Gives the number of rows; wrong answers are an error, whose `code` is 1 for counts, 2 for answers of the head, 3 for
    those of packed bits.
 */
export async function check() {
  const file = await fetch(new URL("./vectors.txt", import.meta.url));
  const tokens = (await file.text()).split(/\s+/);
  const matrices = {};
  let n = 0;
  for (let at = 0; at + 2 < tokens.length;) {
    const [name, nRows, nColumns] = [tokens[at], Number(tokens[at + 1]), Number(tokens[at + 2])];
    matrices[name] = tokens.slice(at + 3, at + 3 + nRows * nColumns).map(Number);
    at += 3 + nRows * nColumns;
    n = nRows;
  }
  const model = await load();
  await compareAll(model, matrices, n);
  model.destroy();
  return n;
}

function compare(code, found, expected, tolerance = 0) {
  if (found.length === expected.length && expected.every((x, i) => isNear(found[i], x, tolerance))) return;
  throw Object.assign(new Error("answers must be those of the reference evaluator, got others"), {code});
}

async function compareAll(model, {rows, bits, counts, scores, proba, classes}, n) {
  const [all, words] = [Row.from(rows), toWords(bits, n)];
  const width = rows.length / n;
  const one = Row.from(rows.slice(0, width));
  compare(1, await model.countsRows(all, n), counts);
  compare(1, await model.counts(one), counts.slice(0, counts.length / n));
  compare(3, await model.countsWords(words, n), counts);
  if (scores) compare(2, await model.scoresRows(all, n), scores);
  if (classes) {
    compare(2, await model.probaRows(all, n), proba, 1e-12);
    compare(2, await model.predictRows(all, n), classes);
    compare(2, [await model.predict(one)], [labels[classes[0]]]);
    compare(3, await model.predictWords(words, n), classes);
  } else if (scores) {
    const found = await model.predict(one);
    compare(2, typeof found === "number" ? [found] : found, scores.slice(0, scores.length / n));
  }
}
