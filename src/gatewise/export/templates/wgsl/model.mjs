// Written by gatewise; README.md says what the numbers mean.
import {columns, HEAD, KIND, labels, LAUNCHES, MOST_WORDS, N_BITS, N_COLUMNS, N_GROUPS, N_NODES, Row} from "./sizes.mjs";

export {toRow} from "./rows.mjs";
export {columns, labels, Row};

/** Words of packed bits from n rows of bits, one behind the other, that are 0 or 1. */
export function toWords(bits, n) {
  const nWords = Math.ceil(n / 32);
  const words = new Uint32Array(N_BITS * nWords);
  for (let row = 0; row < n; ++row)
    for (let i = 0; i < N_BITS; ++i) words[i * nWords + (row >> 5)] |= bits[row * N_BITS + i] << (row & 31);
  return words;
}

/** Loads the model for a GPUDevice, by default one of the browser's, from its files beside this one. */
export async function load(device) {
  const [own, code, tables] = await Promise.all([
    device ?? findDevice(), read("./model.wgsl").then((file) => file.text()),
    read("./model.bin").then((file) => file.arrayBuffer())
  ]);
  const module = own.createShaderModule({code});
  const entries = BINDINGS.map((buffer, binding) => ({binding, visibility: GPUShaderStage.COMPUTE, buffer}));
  const bindings = own.createBindGroupLayout({entries});
  const layout = own.createPipelineLayout({bindGroupLayouts: [bindings]});
  const make =
      async (entryPoint) => [entryPoint, await own.createComputePipelineAsync({layout, compute: {module, entryPoint}})];
  return new Model(own, bindings, new Map(await Promise.all(SHADERS.map(make))), tables);
}

async function read(name) {
  const file = await fetch(new URL(name, import.meta.url));
  if (!file.ok) throw new Error(`${file.url} must be there, got status ${file.status}`);
  return file;
}

async function findDevice() {
  const adapter = await globalThis.navigator?.gpu?.requestAdapter();
  if (!adapter) throw new Error("load must be called where there is WebGPU, got none; or pass a GPUDevice");
  return adapter.requestDevice();
}

const SHADERS = ["encode_rows", "evaluate_gates", "start_counts", "count_slices", "find_best"];
const BINDINGS = [
  {type: "uniform", hasDynamicOffset: true, minBindingSize: 8}, {type: "uniform"}, {type: "read-only-storage"},
  {type: "read-only-storage"}, {type: "storage"}, {type: "storage"}, {type: "storage"}
];
const STRIDE = 256;  // of what launches are told, in bytes
const roundUp = (n, unit) => Math.ceil(n / unit) * unit;

/** What is computed from the counts of a row, by the name of the method. */
const ANSWERS = {
  circuit: {},
  regression: {scores: findValues},
  classifier: {scores: findScores, proba: findProba}
}[KIND];

function findValues(counts) {
  const {size, scale, offset, shares} = HEAD;
  return counts.map((count, k) => (shares ? shares[count] : count / size) * scale[k] + offset[k]);
}

function findScores(counts) {
  return counts.map((count) => count / HEAD.tau);
}

/** The softmax of the scores; exp(-n / tau) is a product of powers[j] = exp(-2^j / tau). */
function findProba(counts) {
  const most = Math.max(...counts);
  const power = (n) => HEAD.powers.reduce((product, each, j) => ((n >> j) & 1 ? product * each : product), 1);
  const shares = counts.map((count) => power(most - count));
  const sum = shares.reduce((total, share) => total + share, 0);
  return shares.map((share) => share / sum);
}

/** Numbers of all rows from their counts. */
function answer(counts, find) {
  const result = new Float64Array(counts.length);
  for (let at = 0; at < counts.length; at += N_GROUPS) result.set(find([...counts.subarray(at, at + N_GROUPS)]), at);
  return result;
}

/** What is given for n rows, which must be an array of that kind, `width` numbers per row or word of rows. */
function check(name, input, Kind, n, size) {
  if (input instanceof Kind && input.length === size) return;
  const got = `${input?.constructor?.name} of ${input?.length}`;
  throw new TypeError(`${name} must be a ${Kind.name} of ${size} numbers for ${n} rows, got ${got}`);
}

/** Bytes that a buffer takes, which are a multiple of 4. */
function pad(array) {
  if (array.byteLength % 4 === 0) return array;
  const padded = new Uint8Array(roundUp(array.byteLength, 4));
  padded.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  return padded;
}

/** Words of some rows, of all parts, from words of all rows. */
function cut(words, nWords, first, n) {
  const part = new Uint32Array(N_BITS * n);
  for (let i = 0; i < N_BITS; ++i) part.set(words.subarray(i * nWords + first, i * nWords + first + n), i * n);
  return part;
}

/** A model on a device. Calls may overlap: what a call sends is in the queue before another one sends something. */
class Model {
  #device;
  #bindings;
  #shaders;
  #fixed;     // buffers: what launches are told, the batch, the tables
  #own = [];  // buffers: rows, state, counts, classes
  #room = 0;  // words of rows that these hold
  #group;

  constructor(device, bindings, shaders, tables) {
    [this.#device, this.#bindings, this.#shaders] = [device, bindings, shaders];
    const {UNIFORM, STORAGE, COPY_DST} = GPUBufferUsage;
    const pieces = new Uint32Array((STRIDE / 4) * (LAUNCHES.length + 1));
    LAUNCHES.forEach(([, first, n], i) => pieces.set([first, n], (STRIDE / 4) * i));
    this.#fixed = [
      this.#make(pieces.byteLength, UNIFORM | COPY_DST), this.#make(8, UNIFORM | COPY_DST),
      this.#make(tables.byteLength, STORAGE | COPY_DST)
    ];
    device.queue.writeBuffer(this.#fixed[0], 0, pieces);
    device.queue.writeBuffer(this.#fixed[2], 0, tables);
    for (const [what, find] of Object.entries(ANSWERS)) {
      this[`${what}Rows`] = async (rows, n) => answer(await this.countsRows(rows, n), find);
      this[what] = (row) => this[`${what}Rows`](Row.from(row), 1);
    }
    if (KIND === "classifier") {
      this.predictRows = (rows, n) => this.#runRows(rows, n, "classes");
      this.predictWords = (words, n) => this.#runWords(words, n, "classes");
      this.predict = async (row) => labels[(await this.predictRows(Row.from(row), 1))[0]];
    } else if (KIND === "regression") {
      this.predictRows = this.scoresRows;
      this.predict = async (row) => (N_GROUPS === 1 ? (await this.scores(row))[0] : this.scores(row));
    }
  }

  countsRows(rows, n) {
    return this.#runRows(rows, n, "counts");
  }

  countsWords(words, n) {
    return this.#runWords(words, n, "counts");
  }

  counts(row) {
    return this.countsRows(Row.from(row), 1);
  }

  /** Gives the memory of the device back; the model is of no use then. */
  destroy() {
    for (const buffer of [...this.#fixed, ...this.#own]) buffer.destroy();
  }

  #make(size, usage) {
    return this.#device.createBuffer({size: Math.max(roundUp(size, 4), 16), usage});
  }

  /** Makes room for words of rows; what is destroyed lives until what was submitted is done. */
  #reserve(nWords) {
    if (nWords <= this.#room) return;
    for (const buffer of this.#own) buffer.destroy();
    this.#room = Math.min(2 ** Math.ceil(Math.log2(nWords)), MOST_WORDS);
    const nRows = 32 * this.#room;
    const {STORAGE, COPY_SRC, COPY_DST} = GPUBufferUsage;
    this.#own = [
      this.#make(nRows * N_COLUMNS * Row.BYTES_PER_ELEMENT, STORAGE | COPY_DST),
      this.#make(4 * N_NODES * this.#room, STORAGE | COPY_DST), this.#make(4 * N_GROUPS * nRows, STORAGE | COPY_SRC),
      this.#make(4 * nRows, STORAGE | COPY_SRC)
    ];
    const entries = [...this.#fixed, ...this.#own].map((buffer, binding) => ({binding, resource: {buffer}}));
    entries[0].resource.size = 8;
    this.#group = this.#device.createBindGroup({layout: this.#bindings, entries});
  }

  async #runRows(rows, n = rows.length / N_COLUMNS, what) {
    check("rows", rows, Row, n, n * N_COLUMNS);
    const send = (first, nRows) => {
      const part = rows.subarray(first * N_COLUMNS, (first + nRows) * N_COLUMNS);
      this.#device.queue.writeBuffer(this.#own[0], 0, pad(part));
      return LAUNCHES;
    };
    return this.#run(send, n, what);
  }

  async #runWords(words, n, what) {
    const nWords = Math.ceil(n / 32);
    check("words", words, Uint32Array, n, nWords * N_BITS);
    const send = (first, nRows) => {
      this.#device.queue.writeBuffer(this.#own[1], 0, cut(words, nWords, first / 32, Math.ceil(nRows / 32)));
      return LAUNCHES.filter(([shader]) => shader !== "encode_rows");
    };
    return this.#run(send, n, what);
  }

  /** Some rows after the other. `send` brings them to the device and gives the launches that they need. */
  async #run(send, n, what) {
    const width = what === "classes" ? 1 : N_GROUPS;
    const result = new Int32Array(n * width);
    for (let first = 0; first < n; first += 32 * MOST_WORDS) {
      const nRows = Math.min(32 * MOST_WORDS, n - first);
      this.#reserve(Math.ceil(nRows / 32));
      const answers = this.#submit(send(first, nRows), nRows, what, 4 * nRows * width);
      await answers.mapAsync(GPUMapMode.READ);
      result.set(new Int32Array(answers.getMappedRange(), 0, nRows * width), first * width);
      answers.destroy();
    }
    return result;
  }

  /** Starts the work on rows that are there; the answers will be in the buffer that it gives. */
  #submit(launches, nRows, what, nBytes) {
    const {queue} = this.#device;
    const [perRow, nWords] = [Math.ceil(nRows / 256), Math.ceil(nRows / 32)];
    queue.writeBuffer(this.#fixed[1], 0, new Uint32Array([nRows, nWords]));
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    const launch = (shader, i, x, y = 1) => {
      pass.setPipeline(this.#shaders.get(shader));
      pass.setBindGroup(0, this.#group, [STRIDE * i]);
      pass.dispatchWorkgroups(x, y);
    };
    launch("start_counts", LAUNCHES.length, perRow);
    for (const each of launches)
      launch(each[0], LAUNCHES.indexOf(each), Math.ceil(nWords / 32), Math.ceil(each[2] / 8));
    if (what === "classes") launch("find_best", LAUNCHES.length, perRow);
    pass.end();
    const answers = this.#make(nBytes, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
    encoder.copyBufferToBuffer(this.#own[what === "classes" ? 3 : 2], 0, answers, 0, nBytes);
    queue.submit([encoder.finish()]);
    return answers;
  }
}
