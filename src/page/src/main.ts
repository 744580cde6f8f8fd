// Builds the page from the facts in it.
import {makeAbout, makeHeader, makeProofs, makeTraining} from "./background";
import {makeCircuit, makeLevels} from "./circuit";
import {makeColumns} from "./columns";
import {h, section} from "./dom";
import {Evaluator} from "./evaluator";
import type {Facts} from "./facts";
import {Sample} from "./facts";
import {makeLive} from "./live";
import {makeQuality} from "./quality";
import {State} from "./state";

declare global {
  interface Window {
    gatewise: {facts: Facts; predict: (row: ArrayLike<number>) => unknown; numbers: () => number[]};
  }
}

function build(facts: Facts): (HTMLElement | null)[] {
  const sample = facts.sample && new Sample(facts.sample);
  const evaluator = facts.circuit && new Evaluator(facts.model, facts.columns, facts.circuit);
  const predict = (row: ArrayLike<number>): unknown => {
    if (!evaluator) throw new Error("the page must carry the circuit to predict, got one that leaves it out");
    return evaluator.predict(row);
  };
  const state = evaluator && new State(facts, evaluator, sample);
  window.gatewise = {facts, predict, numbers: () => Array.from(state?.numbers ?? [])};
  const levels = section("circuit", "The circuit", "", makeLevels(facts) ?? h("p", {}, "It has no gates."));
  return [
    state && makeLive(state), state ? makeCircuit(state) : levels, makeColumns(facts), makeQuality(facts),
    makeTraining(facts), makeProofs(facts), makeAbout(facts),
  ];
}

const facts = JSON.parse(document.getElementById("facts")!.textContent!) as Facts;
const page = document.getElementById("page")!;
if (facts.model) {
  document.title = `${facts.title} – gatewise`;
  const sections = build(facts).filter((each) => each !== null);
  const links = sections.map((each) => h("a", {href: `#${each.id}`}, each.querySelector("h2")!.textContent));
  const nav = h("nav", {"aria-label": "Sections"}, ...links);
  page.replaceChildren(makeHeader(facts), nav, h("main", {id: "content", tabindex: -1}, ...sections));
} else {
  page.replaceChildren(h("p", {class: "plain"}, "This is an empty page; gatewise report fills it."));
}
