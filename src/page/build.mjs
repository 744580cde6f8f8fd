// Bundles the page into one file, src/gatewise/report/page.html: styles and script inside, with a content security
// policy that allows exactly these two and no request. `node build.mjs --check` fails if that file is not this build.
import {createHash} from "node:crypto";
import {readFileSync, writeFileSync} from "node:fs";

import {build} from "esbuild";

const here = (path) => new URL(path, import.meta.url);
const target = here("../gatewise/report/page.html");

async function bundle(entry) {
  const options = {bundle: true, minify: true, write: false, charset: "ascii", target: "es2022", legalComments: "none"};
  const {outputFiles} = await build({entryPoints: [here(entry).pathname], ...options});
  return outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const script = await bundle("src/main.ts");
const style = await bundle("page.css");
if (/<\/(script|style)/i.test(script + style)) throw new Error("script and style must not close their element");
const parts = {
  POLICY: `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`,
  SCRIPT: script,
  STYLE: style,
};
const page = readFileSync(here("page.html"), "utf8").replace(/@(POLICY|SCRIPT|STYLE)@/g, (_, name) => parts[name]);
if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== page) throw new Error("page.html must be the build of its sources; make page");
} else {
  writeFileSync(target, page);
  console.log(`${page.length} bytes`);
}
