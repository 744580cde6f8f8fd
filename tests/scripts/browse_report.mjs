// Opens report pages in Chromium and tries everything on them: node browse_report.mjs FOLDER CHROMIUM. Reads what to try
// from FOLDER/cases.json, prints what it found as JSON; tests/report/test_browser.py judges it.
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

const require = createRequire(new URL("../../src/page/package.json", import.meta.url));
const {chromium} = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [folder, executablePath] = process.argv.slice(2);
const cases = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8"));
const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const browser = await chromium.launch({executablePath, args});
const found = {};

async function open(name, {phone = false, dark = false} = {}) {
  const viewport = phone ? {width: 390, height: 844} : {width: 1280, height: 900};
  const page = await browser.newPage({viewport, colorScheme: dark ? "dark" : "light"});
  const log = {errors: [], requests: []};
  page.on("console", (message) => message.type() === "error" && log.errors.push(message.text()));
  page.on("pageerror", (error) => log.errors.push(String(error)));
  const url = pathToFileURL(join(folder, `${name}.html`)).href;
  page.on("request", (request) => request.url() !== url && log.requests.push(request.url()));
  await page.goto(url);
  return [page, log];
}

const text = (page, selector) => page.locator(selector).first().textContent();
const answer = (page) => text(page, "#answer");

/** What holds for every page: nothing fails, nothing is asked for, nothing is too wide, nobody is shut out. */
async function inspect(name, options) {
  const [page, log] = await open(name, options);
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => {
    const {violations} = await globalThis.axe.run(document, {resultTypes: ["violations"]});
    return violations.map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 200)).join(" ")}`);
  });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  const headings = await page.locator("h2").allTextContents();
  const title = await page.title();
  const leftOut = await page.locator(".left-out").allTextContents();
  await page.close();
  return {...log, violations, width, headings, title, leftOut};
}

/** Answers to rows of numbers, in which strings stand for what JSON has not. */
const predict = (page, rows) => page.evaluate((all) => all.map((row) => window.gatewise.predict(row.map(Number))), rows);

async function tryControls(name, {rows, near}) {
  const [page, log] = await open(name);
  const seen = {log, predictions: await predict(page, rows), hacked: await page.evaluate(() => "hacked" in window)};
  const truth = () => text(page, ".truth");
  seen.first = [await truth(), await answer(page)];
  await page.getByRole("button", {name: "Next"}).click();
  seen.next = [await truth(), await answer(page)];
  await page.getByRole("button", {name: "Previous"}).click();
  seen.previous = await truth();
  await page.locator("#row").fill(String(near));
  await page.locator("#row").press("Enter");
  seen.near = [await truth(), await answer(page)];
  await page.getByRole("button", {name: "Any row"}).click();
  seen.any = [await truth(), await answer(page)];
  await page.getByRole("button", {name: "A wrong answer"}).click();
  seen.wrong = [await truth(), await answer(page)];
  await page.locator("#row").fill(String(near));
  await page.locator("#row").press("Enter");
  await page.locator("#column-0").fill("70");
  await page.locator("#column-1").selectOption({label: "smith"});
  seen.changed = [await answer(page), await text(page, ".answer .quiet")];
  await page.locator("#column-0").press("ArrowLeft");
  seen.stepped = await text(page, ".control-head:has([for=column-0]) .value");
  await page.getByRole("checkbox", {name: "missing"}).check();
  seen.missing = await answer(page);
  await page.getByRole("button", {name: "Start again"}).click();
  seen.again = await answer(page);
  await page.locator(".changes li").first().waitFor();
  const more = page.getByRole("button", {name: "Show all changes"});
  if (await more.isVisible()) await more.click();
  seen.changes = await page.locator(".changes li").allTextContents();
  await page.locator(".changes button").first().click();
  seen.afterChange = await answer(page);
  seen.circuit = await tryCircuit(page);
  await page.locator("summary").first().click();
  seen.questions = await page.locator("details[open] li").allTextContents();
  await page.locator("#cut").fill("3");
  seen.cut = [await text(page, "[for=cut].value"), await page.locator(".control .tile dd").allTextContents()];
  await page.emulateMedia({media: "print"});
  seen.printed = [await page.locator("nav").isVisible(), await page.locator("h1").isVisible()];
  await page.close();
  return seen;
}

async function tryCircuit(page) {
  const seen = {};
  seen.outputs = await page.locator(".outputs button").count();
  await page.locator(".outputs button").first().click();
  seen.root = await text(page, ".details h3");
  seen.words = await text(page, ".words");
  [seen.nodes, seen.deciding] = [0, 0];
  for (let k = 0; k < 6; ++k) {
    await page.locator(".outputs button").nth(k).click();
    seen.nodes += await page.locator(".node").count();
    await page.locator("#only").check();
    seen.deciding += await page.locator(".node").count();
    await page.locator("#only").uncheck();
  }
  const box = () => page.locator(".drawing").getAttribute("viewBox");
  const views = [await box()];
  for (const name of ["Larger", "Smaller", "Fit"]) {
    await page.getByRole("button", {name}).click();
    views.push(await box());
  }
  seen.views = views;
  await page.locator(".node:not(.input)").last().click();
  seen.gate = [await text(page, ".details h3"), await page.locator(".truth-table tbody tr").allTextContents()];
  await page.locator(".node[tabindex='0']").focus();
  await page.keyboard.press("ArrowRight");
  seen.walked = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  await page.keyboard.press("Enter");
  seen.chosen = await text(page, ".details h3");
  await page.getByRole("button", {name: "Draw from here"}).click();
  const groups = await page.locator("#group option").count();
  await page.locator("#group").selectOption({index: groups - 1});
  seen.sum = await text(page, ".outputs-box .quiet");
  return seen;
}

async function tryPad(name, {rows}) {
  const [page, log] = await open(name);
  const numbers = () => page.evaluate(() => window.gatewise.numbers());
  const seen = {log, predictions: await predict(page, rows)};
  await page.getByRole("button", {name: "Clear"}).click();
  seen.cleared = [await numbers(), await answer(page)];
  const pad = page.locator(".pad");
  await pad.scrollIntoViewIfNeeded();
  const {x, y, width, height} = await pad.boundingBox();
  await page.mouse.move(x + 0.3 * width, y + 0.2 * height);
  await page.mouse.down();
  await page.mouse.move(x + 0.7 * width, y + 0.2 * height, {steps: 3});
  await page.mouse.move(x + 0.4 * width, y + 0.8 * height, {steps: 3});
  await page.mouse.up();
  seen.drawn = [await numbers(), await answer(page)];
  await page.locator("#eraser").check();
  await page.mouse.move(x + 0.3 * width, y + 0.2 * height);
  await page.mouse.down();
  await page.mouse.up();
  seen.erased = [await numbers(), await answer(page)];
  await pad.focus();
  for (const key of ["ArrowDown", "ArrowRight", " ", "ArrowDown", " "]) await page.keyboard.press(key);
  seen.typed = [await numbers(), await answer(page)];
  await page.close();
  return seen;
}

/** What outputs say, and which gates a wire that does not end there is drawn through. */
async function readWords(name) {
  const [page] = await open(name);
  const said = await page.locator(".outputs button").evaluateAll((all) => all.map(({title}) => title));
  const through = await page.evaluate(() => {
    const boxes = [...document.querySelectorAll(".node:not(.input) .shape")].map((shape) => [shape, shape.getBoundingClientRect()]);
    return [...document.querySelectorAll(".wires path")].flatMap((path) => {
      const matrix = path.getScreenCTM();
      const length = path.getTotalLength();
      const inner = Array.from({length: 50}, (_, k) => path.getPointAtLength((length * (k + 1)) / 52).matrixTransform(matrix));
      return boxes.filter(([, box]) => inner.some(({x, y}) => x > box.left + 4 && x < box.right - 4 && y > box.top + 1 && y < box.bottom - 1))
        .map(([shape]) => shape.parentNode.parentNode.getAttribute("aria-label"));
    });
  });
  await page.close();
  return {said, through};
}

for (const [name, given] of Object.entries(cases)) {
  found[name] = {wide: await inspect(name), narrow: await inspect(name, {phone: true, dark: true})};
  if (given.kind === "classes") found[name].controls = await tryControls(name, given);
  if (given.kind === "image") found[name].pad = await tryPad(name, given);
  if (given.kind === "values") {
    const [page] = await open(name);
    found[name].predictions = await predict(page, given.rows);
    found[name].shown = await page.locator(".answer .name").allTextContents();
    await page.close();
  }
  if (given.kind === "words") found[name] = {...found[name], ...await readWords(name)};
}
await browser.close();
console.log(JSON.stringify(found));
