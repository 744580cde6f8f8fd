// Times report pages in Chromium: node browse.mjs CHROMIUM PAGE.html … Prints, for each page as JSON: milliseconds until
// something is painted, and from a change of a control until the answer stands there, and what axe-core finds wrong.
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const require = createRequire(new URL("../../src/page/package.json", import.meta.url));
const {chromium} = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [executablePath, ...files] = process.argv.slice(2);
const N_LOADS = 5;

/** Changes one control after the other, and lays out the page each time, as before it is painted. */
function timeChanges() {
  const N_CHANGES = 200;
  const pad = document.querySelector(".pad");
  const sliders = [...document.querySelectorAll("[id^=column-][type=range]")];
  const change = (i) => {
    if (pad) return pad.dispatchEvent(new KeyboardEvent("keydown", {key: i % 2 ? "ArrowRight" : " ", bubbles: true}));
    const slider = sliders[i % sliders.length], part = (i * 0.381966) % 1;
    slider.value = String(Number(slider.min) + part * (Number(slider.max) - Number(slider.min)));
    slider.dispatchEvent(new Event("input", {bubbles: true}));
  };
  const times = [];
  for (let i = 0; i < N_CHANGES; ++i) {
    const start = performance.now();
    change(i);
    document.querySelector("#answer").getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times;
}

const browser = await chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu"]});
const found = [];
for (const file of files) {
  const paints = [];
  let page;
  for (let k = 0; k < N_LOADS; ++k) {
    await page?.close();
    page = await browser.newPage({viewport: {width: 1280, height: 900}});
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
  }
  const answers = await page.evaluate(timeChanges);
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => (await globalThis.axe.run(document)).violations.map(({id}) => id));
  found.push({paints, answers, violations});
  await page.close();
}
await browser.close();
console.log(JSON.stringify(found));
