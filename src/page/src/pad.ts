// A pad to draw images on, by mouse, finger or keys.
import {button, h} from "./dom";
import type {State} from "./state";

const SIZE = 336;

export function makePad(state: State, [height, width]: [number, number]): HTMLElement {
  const high = Math.max(...state.facts.columns.map((column) => column.high));
  const scale = Math.floor(SIZE / Math.max(height, width));
  const canvas = h("canvas", {
    width: width * scale, height: height * scale, class: "pad", tabindex: 0, role: "application",
    "aria-label": "Image. Arrow keys move, space draws, backspace erases.",
  });
  const cursor = {row: height >> 1, column: width >> 1, isShown: false};
  const round = high > 4 ? Math.round : (value: number) => value;
  const reach = width > 16 ? 1.25 : 0.75;  // of the brush, in pixels

  const draw = (x: number, y: number, sign: number): void => {
    for (let row = Math.max(0, Math.floor(y - 2)); row < Math.min(height, y + 2); ++row) {
      for (let column = Math.max(0, Math.floor(x - 2)); column < Math.min(width, x + 2); ++column) {
        const strength = Math.min(1, Math.max(0, reach + 0.5 - Math.hypot(column + 0.5 - x, row + 0.5 - y)));
        const i = row * width + column;
        const now = Number.isFinite(state.numbers[i]) ? state.numbers[i] : 0;
        if (strength > 0 && sign > 0) state.numbers[i] = Math.max(now, round(high * strength));
        else if (strength > 0) state.numbers[i] = Math.min(now, round(high * (1 - strength)));
      }
    }
    state.update();
  };

  const paint = (): void => {
    const context = canvas.getContext("2d");
    if (!context) return;
    for (let i = 0; i < height * width; ++i) {
      const value = Number.isFinite(state.numbers[i]) ? state.numbers[i] : 0;
      const light = Math.round(255 * Math.min(1, Math.max(0, value / high)));
      context.fillStyle = `rgb(${light} ${light} ${light})`;
      context.fillRect((i % width) * scale, Math.floor(i / width) * scale, scale, scale);
    }
    if (!cursor.isShown) return;
    context.strokeStyle = "#f0a030";
    context.lineWidth = 2;
    context.strokeRect(cursor.column * scale + 1, cursor.row * scale + 1, scale - 2, scale - 2);
  };

  let last: [number, number] | null = null;
  const follow = (event: PointerEvent): void => {
    if (!(event.buttons & 3)) return;
    const box = canvas.getBoundingClientRect();
    const to: [number, number] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    const from = last ?? to;
    const steps = Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) * 2) || 1;
    for (let k = 1; k <= steps; ++k) {
      draw(from[0] + ((to[0] - from[0]) * k) / steps, from[1] + ((to[1] - from[1]) * k) / steps, erases(event) ? -1 : 1);
    }
    last = to;
  };
  const eraser = h("input", {type: "checkbox", id: "eraser"});
  const erases = (event: PointerEvent): boolean => eraser.checked || (event.buttons & 2) > 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    last = null;
    follow(event);
  });
  canvas.addEventListener("pointermove", follow);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("focus", () => { cursor.isShown = canvas.matches(":focus-visible"); paint(); });
  canvas.addEventListener("blur", () => { cursor.isShown = false; paint(); });
  canvas.addEventListener("keydown", (event) => {
    const moves: Record<string, [number, number]> = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
    const move = moves[event.key];
    const sign = event.key === " " ? 1 : event.key === "Backspace" ? -1 : 0;
    if (!move && !sign) return;
    event.preventDefault();
    cursor.isShown = true;
    if (move) {
      cursor.row = Math.min(height - 1, Math.max(0, cursor.row + move[0]));
      cursor.column = Math.min(width - 1, Math.max(0, cursor.column + move[1]));
      paint();
    } else {
      draw(cursor.column + 0.5, cursor.row + 0.5, sign);
    }
  });
  state.subscribe(paint);
  const clear = button("Clear", () => { state.numbers.fill(0); state.update(); });
  return h("div", {class: "pad-box"}, canvas, h("div", {class: "picker"}, clear, h("label", {class: "tick", for: "eraser"}, eraser, "erase")));
}
