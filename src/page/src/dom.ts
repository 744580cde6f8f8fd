// Elements and small charts. Text is only ever set as text: strings of strangers cannot become markup.

type Child = Node | string | number | null | false | undefined;
type Attributes = Record<string, string | number | boolean | null | ((event: never) => void)>;

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : String(child));
    }
  }
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

export function button(text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h("button", {type: "button", click: act, ...attributes}, text);
}

export function section(id: string, title: string, lead: string, ...children: Child[]): HTMLElement {
  const heading = h("h2", {id: `${id}-title`}, title);
  const intro = lead ? h("p", {class: "lead"}, lead) : null;
  return h("section", {id, "aria-labelledby": `${id}-title`}, heading, intro, ...children);
}

export function tile(value: string, what: string): HTMLElement {
  return h("div", {class: "tile"}, h("dt", {}, what), h("dd", {}, value));
}

const whole = new Intl.NumberFormat("en-US");
export const count = (n: number, noun: string): string =>
  `${whole.format(n)} ${noun}${n === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;
export const integer = (n: number): string => whole.format(n);
export const percent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)} %`;

/** A number as people write it: four significant digits, more only if it is large. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "missing" : value > 0 ? "∞" : "−∞";
  if (Math.abs(value) >= 1000 && Math.abs(value) < HUGE) return whole.format(Math.round(value)).replace("-", "−");
  return exact(Number(value.toPrecision(4)));
}

const [TINY, HUGE] = [1e-4, 1e15];

/** A number with all its digits, those that are very small or large as powers of ten. */
export function exact(value: number): string {
  const size = Math.abs(value);
  if (value === 0 || (size >= TINY && size < HUGE)) return String(value).replace("-", "−");
  const [digits, power] = value.toExponential().split("e");
  const raised = power.replace(/\D/g, (sign) => (sign === "-" ? "⁻" : "")).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);
  return `${digits.replace("-", "−")} · 10${raised}`;
}

const IS_RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
/** A name inside a sentence: one that is read from right to left must not turn the rest around. */
export const isolate = (text: string): string => (IS_RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

/** Names as people read them, the longest ones cut. */
export const clip = (text: string, length = 40): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

export interface Frame {
  width: number;
  height: number;
  left: number;
  bottom: number;
  x: [number, number];
  y: [number, number];
}

/** A chart's area with axes; `at` turns values into places. */
export class Chart {
  readonly root: SVGSVGElement;
  private readonly top = 8;
  private readonly right = 10;

  constructor(readonly frame: Frame, label: string, xTitle: string, yTitle: string) {
    const {width, height} = frame;
    this.root = s("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "chart"});
    for (const value of ticks(...frame.y)) {
      const [, y] = this.at(frame.x[0], value);
      this.root.append(s("line", {class: "grid", x1: frame.left, x2: width - this.right, y1: y, y2: y}));
      this.root.append(s("text", {x: frame.left - 6, y: y + 4, "text-anchor": "end"}, short(value)));
    }
    for (const value of ticks(...frame.x)) {
      const [x] = this.at(value, frame.y[0]);
      this.root.append(s("text", {x, y: height - frame.bottom + 16, "text-anchor": "middle"}, short(value)));
    }
    const middle = (frame.left + width - this.right) / 2;
    this.root.append(s("text", {class: "axis", x: middle, y: height - 4, "text-anchor": "middle"}, xTitle));
    this.root.append(s("text", {class: "axis", x: frame.left, y: this.top + 2}, yTitle));
  }

  at(x: number, y: number): [number, number] {
    const {width, height, left, bottom, x: [x0, x1], y: [y0, y1]} = this.frame;
    const [top, right] = [this.top + 10, this.right];
    return [
      left + ((x - x0) / (x1 - x0 || 1)) * (width - left - right),
      height - bottom - ((y - y0) / (y1 - y0 || 1)) * (height - bottom - top),
    ];
  }

  line(points: [number, number][], kind: string): this {
    const path = points.map(([x, y], i) => `${i ? "L" : "M"}${this.at(x, y).map((v) => v.toFixed(1)).join(" ")}`);
    this.root.append(s("path", {class: `line ${kind}`, d: path.join("")}));
    return this;
  }

  dots(points: [number, number][], kind: string, radius: (i: number) => number): this {
    points.forEach(([x, y], i) => {
      const [cx, cy] = this.at(x, y);
      this.root.append(s("circle", {class: `dot ${kind}`, cx, cy, r: radius(i)}));
    });
    return this;
  }

  bars(edges: number[], counts: number[]): this {
    counts.forEach((n, k) => {
      const [x0, y1] = this.at(edges[k], n);
      const [x1, y0] = this.at(edges[k + 1], 0);
      this.root.append(s("rect", {class: "bar", x: x0 + 0.5, y: y1, width: Math.max(x1 - x0 - 1, 0.5), height: y0 - y1}));
    });
    return this;
  }
}

/** Round numbers that divide a range into a few parts. */
export function ticks(low: number, high: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((each) => each >= rough) ?? rough;
  const found: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12) + step * 1e-9; ++k) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

export function figure(caption: string, ...children: Child[]): HTMLElement {
  return h("figure", {}, h("figcaption", {}, caption), ...children);
}
