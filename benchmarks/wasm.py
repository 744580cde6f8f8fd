"""WebAssembly in node, one thread: images a second through the wrapper, from raw bytes and from packed bits.

    python benchmarks/wasm.py [--raw] [--model FILE] [--seconds 2] [--json FILE]

The net is MNIST-small (6 x 8,000 random gates), optimized; --raw takes it as it was drawn, less what no output depends
on; --model takes a trained one. An image is 784 bytes, each compared with 127. Times are the least of repeated calls
with 8,192 images, copies to and from the module's memory included; classes come out. Sizes are bytes of the module.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import machine
import numpy as np
from nets import SIZES, make_net

from gatewise import Circuit, Encoder, Model, optimize
from gatewise.encode import Numeric
from gatewise.export import save_package, to_wasm
from gatewise.export.wasm import LANES
from gatewise.heads import Classes

TIME = """
import { performance } from "node:perf_hooks";
import { readFileSync } from "node:fs";
const [folder, nBits, seconds] = process.argv.slice(2);
const start = performance.now();
const { load } = await import(`${folder}/model.mjs`);
const model = await load();
const load_ms = performance.now() - start;
const n = 8192;
const rows = new Uint8Array(readFileSync("rows.bin")).slice();
const bits = rows.slice(0, n / 8 * nBits);
function time(call) {
  let least = Infinity;
  const end = performance.now() + 1000 * seconds;
  while (performance.now() < end) {
    const before = performance.now();
    call();
    least = Math.min(least, performance.now() - before);
  }
  return least;
}
const row = rows.slice(0, 784);
console.log(JSON.stringify({
  load_ms,
  bytes_per_second: 1000 * n / time(() => model.predictRows(rows)),
  bits_per_second: 1000 * n / time(() => model.predictBlocks(bits, n)),
  one_row_us: 1000 * time(() => model.predict(row)),
}));
"""


def make_model(*, is_raw: bool) -> Model:
    """MNIST-small with a threshold a pixel."""
    net = make_net(SIZES["mnist-small"], "random")
    circuit = Circuit.from_layers(net.n_inputs, net.layers(), net.n_groups)
    encoder = Encoder(tuple(Numeric(f"x{i}", np.array([127.0])) for i in range(net.n_inputs)))
    head = Classes(tuple(range(10)), tau=1.0, group_size=800)
    return Model(encoder, circuit if is_raw else optimize(circuit), head)


def measure(model: Model, style: Any, seconds: float, folder: Path) -> dict[str, Any]:
    """Size and speed of a style."""
    start = time.perf_counter()
    package = to_wasm(model, style=style, dtype="uint8")
    built = time.perf_counter() - start
    save_package(package, folder / style)
    command = ["node", "time.mjs", f"./{style}", str(model.circuit.n_inputs), str(seconds)]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    size = len(package["model.wasm"])
    return {"style": style, "gates": model.circuit.n_gates, "module_bytes": size, "export_seconds": built} | json.loads(
        done.stdout
    )


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", action="store_true", help="do not optimize the net")
    parser.add_argument("--model", type=Path, help="a trained model of 784 columns instead")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each call is repeated")
    parser.add_argument("--json", type=Path, help="where to write the results")
    args = parser.parse_args()
    model = Model.load(args.model) if args.model else make_model(is_raw=args.raw)
    results: dict[str, Any] = {"machine": machine.describe(), "styles": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "time.mjs").write_text(TIME)
        np.random.default_rng(0).integers(0, 256, (8192, 784), dtype=np.uint8).tofile(folder / "rows.bin")
        for style in LANES:
            results["styles"].append(measure(model, style, args.seconds, folder))
            print(json.dumps(results["styles"][-1]), flush=True)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
