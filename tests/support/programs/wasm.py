"""Exported WebAssembly run by node, through its wrapper, and by wasmtime, without."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
from support.batches import Answers, Case, read_answers, write_batches
from support.tools import require_module, require_tool

from gatewise.export import save_package, to_wasm
from gatewise.export.source import Style
from gatewise.export.wasm import LANES

DRIVER = """
import { readFileSync, writeFileSync } from "node:fs";

const input = readFileSync("in.bin");
const outputs = [];
let at = 0;

const sizes = process.argv.slice(2).map(Number);
for (const [i, nBits] of sizes.entries()) {
  const { load, toBlocks } = await import(`./c${i}/model.mjs`);
  const model = await load();
  for (;;) {
    const n = input.readInt32LE(at);
    at += 4;
    if (n < 0) break;
    const rows = new Uint8Array(input.subarray(at, at += n * nBits));
    outputs.push(model.countsRows(rows, n), model.countsBlocks(toBlocks(rows, n), n));
  }
}
writeFileSync("out.bin", Buffer.concat(outputs.map((a) => Buffer.from(a.buffer))));
"""


def count_by_wasm(folder: Path, cases: Sequence[Case], style: Style) -> Answers:
    """Counts of each batch of rows of each circuit, from rows and from blocks, by node and by wasmtime."""
    node = require_tool("node", "apt-get install nodejs")
    require_module("ziglang", "pip install 'gatewise[export]'")
    wasmtime = require_module("wasmtime", "pip install 'gatewise[test]'")
    by_wasmtime: Answers = []
    for i, (circuit, batches) in enumerate(cases):
        package = to_wasm(circuit, style=style)
        save_package(package, folder / f"c{i}")
        runner = Runner(wasmtime, package["model.wasm"], circuit.n_groups, LANES[style])
        by_wasmtime.append([runner.count(rows) for rows in batches])
    write_batches(folder, cases)
    (folder / "driver.mjs").write_text(DRIVER)
    sizes = [str(circuit.n_inputs) for circuit, _ in cases]
    done = subprocess.run([node, "driver.mjs", *sizes], cwd=folder, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    by_node = read_answers(folder, cases)
    return [
        [first + second for first, second in zip(*found, strict=True)]
        for found in zip(by_node, by_wasmtime, strict=True)
    ]


class Runner:
    """A module of a circuit in wasmtime."""

    def __init__(self, wasmtime: ModuleType, module: bytes, n_groups: int, lanes: int) -> None:
        self._store = wasmtime.Store()
        instance = wasmtime.Instance(self._store, wasmtime.Module(self._store.engine, module), [])
        self._exports = instance.exports(self._store)
        self._n_groups, self._lanes = n_groups, lanes

    def count(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """Counts of rows of bits, as numbers and in blocks."""
        n_blocks = -(-len(rows) // self._lanes)
        padded = np.pad(rows, ((0, n_blocks * self._lanes - len(rows)), (0, 0)))
        bits = padded.reshape(n_blocks, self._lanes, rows.shape[1]).transpose(0, 2, 1)
        blocks = np.packbits(bits, axis=2, bitorder="little")
        return self._call("model_counts_rows", rows, len(rows)), self._call("model_counts_blocks", blocks, len(rows))

    def _call(self, name: str, array: np.ndarray, n_rows: int) -> np.ndarray:
        store, memory = self._store, self._exports["memory"]
        data = array.astype(np.uint8).tobytes()
        start = -(-self._exports["__heap_base"].value(store) // 16) * 16
        output = start + -(-len(data) // 16) * 16
        n_bytes = 4 * n_rows * self._n_groups
        memory.grow(store, -(-(output + n_bytes) // 65536))
        memory.write(store, data, start)
        self._exports[name](store, start, n_rows, output)
        found = bytes(memory.read(store, output, output + n_bytes))
        return np.frombuffer(found, "<i4").reshape(n_rows, self._n_groups)
