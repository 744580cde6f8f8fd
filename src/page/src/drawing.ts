// Draws a layout as logic diagrams are drawn: gates by their shape, circles where something is inverted, wires that
// carry a 1 in color. It can be moved, zoomed, and walked through with the arrow keys.
import {clip, s} from "./dom";
import type {Edge, Layout, Place} from "./layout";
import type {State} from "./state";
import type {Operator} from "./words";
import {FORMULAS} from "./words";

const [STEP_X, STEP_Y, TEXT_WIDTH, MARGIN, WIDTH] = [104, 40, 210, 16, 820];
const N_SHOWN = 30;  // characters of what an input asks
const SHAPES: Record<Operator, string> = {
  and: "M0 0H14A14 13 0 0 1 14 26H0Z",
  or: "M-3 0H6Q22 1 30 13Q22 25 6 26H-3Q5 13 -3 0Z",
  xor: "M-1 0H8Q23 1 30 13Q23 25 8 26H-1Q7 13 -1 0ZM-6 0Q2 13 -6 26",
  copy: "M3 2L25 13L3 24Z",
  constant: "M3 3H23V23H3Z",
};
const ENDS: Record<Operator, number> = {and: 28, or: 30, xor: 30, copy: 25, constant: 23};

export class Drawing {
  readonly root = s("svg", {class: "drawing", role: "group"});
  private readonly nodes = new Map<number, SVGGElement>();
  private readonly paths: [Edge, SVGPathElement][] = [];
  private layout: Layout | null = null;
  private box = {x: 0, y: 0, width: 1, height: 1};
  private whole = {...this.box};

  constructor(private readonly state: State, private readonly choose: (wire: number) => void) {
    this.root.addEventListener("keydown", (event) => this.walk(event));
    this.root.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15);
    }, {passive: false});
    this.root.addEventListener("pointermove", (event) => {
      if (!(event.buttons & 1)) return;
      const size = this.root.getBoundingClientRect();
      const perPixel = Math.max(this.box.width / size.width, this.box.height / size.height);
      this.box.x -= event.movementX * perPixel;
      this.box.y -= event.movementY * perPixel;
      this.look();
    });
    state.subscribe(() => this.color());
  }

  show(layout: Layout, label: string): void {
    this.layout = layout;
    this.nodes.clear();
    this.paths.length = 0;
    this.root.replaceChildren();
    this.root.setAttribute("aria-label", label);
    const wires = s("g", {class: "wires"});
    this.root.append(wires);
    for (const edge of layout.edges) {
      const path = s("path", {d: this.route(edge)});
      wires.append(path);
      this.paths.push([edge, path]);
    }
    for (const place of [...layout.places.values()].sort((x, y) => x.column - y.column || x.row - y.row)) {
      const node = this.draw(place);
      this.nodes.set(place.wire, node);
      this.root.append(node);
    }
    const first = this.nodes.values().next().value;
    first?.setAttribute("tabindex", "0");
    const height = layout.n_rows * STEP_Y + 2 * MARGIN;
    const width = TEXT_WIDTH + (layout.n_columns - 1) * STEP_X + 90;
    const room = Math.min(WIDTH, document.documentElement.clientWidth - 44);
    const space = Math.max(0, room - width);  // so that few gates are not drawn huge
    this.whole = {x: -space / 2, y: 0, width: width + space, height};
    this.root.style.setProperty("--natural", `${(height * room) / (width + space)}px`);
    this.fit();
    this.color();
  }

  fit(): void {
    this.box = {...this.whole};
    this.look();
  }

  zoom(factor: number): void {
    const {x, y, width, height} = this.box;
    this.box = {x: x + (width * (1 - factor)) / 2, y: y + (height * (1 - factor)) / 2, width: width * factor, height: height * factor};
    this.look();
  }

  mark(wire: number): void {
    for (const [each, node] of this.nodes) node.classList.toggle("marked", each === wire);
  }

  private look(): void {
    const {x, y, width, height} = this.box;
    this.root.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  }

  private at({column, row}: Pick<Place, "column" | "row">): [number, number] {
    return [TEXT_WIDTH + (column - 1) * STEP_X + 40, MARGIN + row * STEP_Y + STEP_Y / 2];
  }

  private route({from, to, pin, stops}: Edge): string {
    const [source, target] = [this.layout!.places.get(from)!, this.layout!.places.get(to)!];
    let [x0, y0] = this.at(source);
    x0 = source.column === 0 ? TEXT_WIDTH - 6 : x0 + this.endOf(from);
    const [x1, middle] = this.at(target);
    const reads = this.formulaOf(to).reads.length;
    const y1 = middle + (reads < 2 ? 0 : pin === "a" ? -6 : 6);
    let path = `M${x0} ${y0}`;
    const curve = (x: number, y: number): void => {
      const bend = Math.min(60, (x - x0) / 2);
      path += `C${x0 + bend} ${y0} ${x - bend} ${y} ${x} ${y}`;
    };
    for (const stop of stops) {
      const [x, y] = this.at(stop);
      curve(x, y);
      [x0, y0] = [x + ENDS.or, y];
      path += `H${x0}`;
    }
    curve(x1, y1);
    return path;
  }

  private formulaOf(wire: number): (typeof FORMULAS)[number] {
    return FORMULAS[this.state.evaluator.gate[wire - this.state.evaluator.first]];
  }

  private endOf(wire: number): number {
    const formula = this.formulaOf(wire);
    return ENDS[formula.operator] + (formula.flips.result ? 6 : 0);
  }

  private draw(place: Place): SVGGElement {
    const {wire, column} = place;
    const {evaluator} = this.state;
    const [x, y] = this.at(place);
    const node = s("g", {class: "node", tabindex: -1, role: "button", click: () => this.choose(wire), "data-wire": wire});
    if (wire < evaluator.first) {
      const text = this.textOf(wire);
      node.setAttribute("class", "node input");
      node.append(s("rect", {class: "hit", x: 0, y: y - 13, width: TEXT_WIDTH - 6, height: 26, rx: 4}));
      node.append(s("text", {x: TEXT_WIDTH - 14, y: y + 4, "text-anchor": "end"}, s("title", {}, text), clip(text, N_SHOWN)));
      return node;
    }
    const {operator, reads, flips} = this.formulaOf(wire);
    const body = s("g", {transform: `translate(${x} ${y - 13})`}, s("path", {class: `shape ${operator}`, d: SHAPES[operator]}));
    for (const pin of reads) {
      const height = reads.length < 2 ? 13 : pin === "a" ? 7 : 19;
      if (flips[pin]) body.append(s("circle", {class: "bubble", cx: operator === "or" || operator === "xor" ? -1 : -3, cy: height, r: 3}));
    }
    if (flips.result) body.append(s("circle", {class: "bubble", cx: ENDS[operator] + 3, cy: 13, r: 3}));
    if (place.isCut && column > 0) body.append(s("text", {class: "more", x: -8, y: 17, "text-anchor": "end"}, "…"));
    node.append(body);
    return node;
  }

  /** What an input asks. */
  private textOf(wire: number): string {
    return wire < 2 ? (wire ? "always" : "never") : this.state.questions[wire - 2].is;
  }

  /** A name for those who hear the page; it begins with what others see, so that both can speak of the same thing. */
  private nameOf(wire: number): string {
    const {first} = this.state.evaluator;
    if (wire >= first) return `gate ${wire - first}, ${this.formulaOf(wire).operator}`;
    const text = this.textOf(wire);
    return text.length > N_SHOWN ? `${clip(text, N_SHOWN)}, ${text}` : text;
  }

  private color(): void {
    const {wires, before} = this.state;
    for (const [wire, node] of this.nodes) {
      node.classList.toggle("on", wires[wire] === 1);
      node.classList.toggle("flipped", wires[wire] !== before[wire]);
      node.setAttribute("aria-label", `${this.nameOf(wire)}: ${wires[wire] ? "true" : "false"}`);
    }
    for (const [{from}, path] of this.paths) path.setAttribute("class", wires[from] ? "on" : "");
  }

  /** Arrow keys: left to an operand, right to a reader, up and down within a level; Enter chooses. */
  private walk(event: KeyboardEvent): void {
    const here = Number((event.target as Element).closest("[data-wire]")?.getAttribute("data-wire") ?? NaN);
    const place = this.layout?.places.get(here);
    if (!place || !this.layout) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return this.choose(here);
    }
    const sign = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    const beside = [...this.layout.places.values()].filter((each) => each.column === place.column && (each.row - place.row) * sign > 0);
    beside.sort((x, y) => Math.abs(x.row - place.row) - Math.abs(y.row - place.row));
    const next = sign ? beside[0]?.wire
      : event.key === "ArrowLeft" ? this.layout.edges.find(({to}) => to === here)?.from
      : event.key === "ArrowRight" ? this.layout.edges.find(({from}) => from === here)?.to
      : undefined;
    if (next === undefined) return;
    event.preventDefault();
    this.nodes.get(here)?.setAttribute("tabindex", "-1");
    const node = this.nodes.get(next);
    node?.setAttribute("tabindex", "0");
    node?.focus();
  }
}
