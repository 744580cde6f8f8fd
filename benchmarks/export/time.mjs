// Images per second of an exported model in node, as JSON: node time.mjs FOLDER N_BITS SECONDS
import { performance } from "node:perf_hooks";
import { readFileSync } from "node:fs";
const [folder, nBits, seconds] = process.argv.slice(2);
const start = performance.now();
const { load } = await import(`${folder}/model.mjs`);
const model = await load();
const load_ms = performance.now() - start;
const n = 8192;
const rows = new Uint8Array(readFileSync("rows.bin")).slice();
const bits = rows.slice(0, n / 8 * nBits);
function time(call) {
  let least = Infinity;
  const end = performance.now() + 1000 * seconds;
  while (performance.now() < end) {
    const before = performance.now();
    call();
    least = Math.min(least, performance.now() - before);
  }
  return least;
}
const row = rows.slice(0, 784);
console.log(JSON.stringify({
  load_ms,
  bytes_per_second: 1000 * n / time(() => model.predictRows(rows)),
  bits_per_second: 1000 * n / time(() => model.predictBlocks(bits, n)),
  one_row_us: 1000 * time(() => model.predict(row)),
}));
