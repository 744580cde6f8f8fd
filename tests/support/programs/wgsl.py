"""Exported WGSL run by wgpu, as the README of an export tells programs to, and by Chromium, through its wrapper."""

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from support.batches import Answers, Case, read_answers, write_batches
from support.browsers import run_script
from support.tools import give_up, require_module

from gatewise import Circuit
from gatewise.export import save_package, to_wgsl

DRIVERS = "apt-get install mesa-vulkan-drivers"
BINDINGS = ("uniform", "uniform", "read-only-storage", "read-only-storage", "storage", "storage", "storage")

SCRIPT = """
  const input = new DataView(await (await fetch("in.bin")).arrayBuffer());
  const outputs = [];
  let at = 0;
  for (const [i, nBits] of SIZES.entries()) {
    const {load, toWords} = await import(`./c${i}/model.mjs`);
    const model = await load();
    for (;;) {
      const n = input.getInt32(at, true);
      at += 4;
      if (n < 0) break;
      const rows = new Uint8Array(input.buffer.slice(at, at += n * nBits));
      outputs.push(model.countsRows(rows, n), model.countsWords(toWords(rows, n), n));
    }
    await Promise.all(outputs);
    model.destroy();
  }
  return new Blob(await Promise.all(outputs));
"""


def count_by_wgsl(folder: Path, cases: Sequence[Case]) -> Answers:
    """Counts of each batch of rows of each circuit, from rows and from words, by Chromium and by wgpu."""
    write_batches(folder, cases)
    by_wgpu: Answers = []
    for i, (circuit, batches) in enumerate(cases):
        package = to_wgsl(circuit)
        save_package(package, folder / f"c{i}")
        by_wgpu.append(count_by_wgpu(package, circuit, batches))
    sizes = json.dumps([circuit.n_inputs for circuit, _ in cases])
    (folder / "out.bin").write_bytes(run_script(folder, SCRIPT.replace("SIZES", sizes)))
    by_browser = read_answers(folder, cases)
    return [
        [first + second for first, second in zip(*found, strict=True)]
        for found in zip(by_browser, by_wgpu, strict=True)
    ]


@cache
def find_device() -> Any:
    """A device that the cores of this machine stand in for; without its drivers the test is skipped, or fails."""
    wgpu = require_module("wgpu", "pip install 'gatewise[test]'")
    adapters = [each for each in wgpu.gpu.enumerate_adapters_sync() if each.info["adapter_type"] == "CPU"]
    vulkan = [each for each in adapters if each.info["backend_type"] == "Vulkan"]
    if not vulkan:
        give_up(f"a driver for Vulkan on CPUs is not installed; get it with: {DRIVERS}")
    return vulkan[0].request_device_sync()


def count_by_wgpu(package: dict[str, bytes], circuit: Circuit, batches: Sequence[np.ndarray]) -> list[tuple[Any, ...]]:
    """Counts of batches of rows of bits, from rows and from words."""
    runner = Runner(package)
    found = []
    for rows in batches:
        n_words = -(-len(rows) // 32)
        words = np.zeros((circuit.n_inputs, 4 * n_words), np.uint8)
        packed = np.packbits(rows, axis=0, bitorder="little").T
        words[:, : packed.shape[1]] = packed
        sizes = (len(rows), circuit.n_groups)
        found.append((runner.count(rows.astype(np.uint8), False, *sizes), runner.count(words, True, *sizes)))
    return found


class Runner:
    """A circuit on a device."""

    def __init__(self, package: dict[str, bytes]) -> None:
        self.device = find_device()
        wrapper = package["model.mjs"].decode()
        self.launches = json.loads(re.findall(r"const LAUNCHES = (.*);", wrapper)[0])
        self.n_nodes = int(re.findall(r"const N_NODES = (.*);", wrapper)[0])
        self.tables = self.device.create_buffer_with_data(data=package["model.bin"], usage="STORAGE")
        module = self.device.create_shader_module(code=package["model.wgsl"].decode())
        entries = [{"binding": i, "visibility": "COMPUTE", "buffer": {"type": kind}} for i, kind in enumerate(BINDINGS)]
        self.layout = self.device.create_bind_group_layout(entries=entries)
        layout = self.device.create_pipeline_layout(bind_group_layouts=[self.layout])
        self.pipelines = {
            name: self.device.create_compute_pipeline(layout=layout, compute={"module": module, "entry_point": name})
            for name in ("encode_rows", "evaluate_gates", "start_counts", "count_slices", "find_best")
        }

    def count(self, data: np.ndarray, is_packed: bool, n_rows: int, n_groups: int) -> np.ndarray:
        """Counts of rows, or of words."""
        n_words = -(-n_rows // 32)
        if not n_rows:
            return np.zeros((0, n_groups), np.int32)
        octets = np.pad(data.ravel(), (0, -data.size % 4 + 4)).tobytes()
        state = np.zeros(self.n_nodes * n_words + 4 + len(octets) // 4, np.uint32)
        if is_packed:
            state.view(np.uint8)[: len(octets)] = np.frombuffer(octets, np.uint8)
        batch = np.array([n_rows, n_words], np.uint32)
        counts = self.device.create_buffer(size=4 * n_rows * n_groups + 4, usage="STORAGE|COPY_SRC")
        make = self.device.create_buffer_with_data
        buffers = [
            make(data=batch, usage="UNIFORM"),
            self.tables,
            make(data=octets, usage="STORAGE"),
            make(data=state, usage="STORAGE"),
            counts,
            self.device.create_buffer(size=4 * n_rows, usage="STORAGE"),
        ]
        blocks = [("start_counts", 0, 0, -(-n_rows // 256), 1)]
        blocks += [(shader, first, n, -(-n_words // 32), -(-n // 8)) for shader, first, n in self.launches]
        encoder = self.device.create_command_encoder()
        for shader, first, n, x, y in blocks:
            if is_packed and shader == "encode_rows":
                continue
            piece = make(data=np.array([first, n], np.uint32), usage="UNIFORM")
            bound = [{"binding": i, "resource": {"buffer": each}} for i, each in enumerate([piece, *buffers])]
            compute = encoder.begin_compute_pass()
            compute.set_pipeline(self.pipelines[shader])
            compute.set_bind_group(0, self.device.create_bind_group(layout=self.layout, entries=bound))
            compute.dispatch_workgroups(x, y)
            compute.end()
        self.device.queue.submit([encoder.finish()])
        found = np.frombuffer(self.device.queue.read_buffer(counts), np.int32)
        return found[: n_rows * n_groups].reshape(n_rows, n_groups)
