"""WebAssembly in node, one thread: images per second through the wrapper, from raw bytes and from packed bits.

    python -m benchmarks.export.wasm --model FILE --record      # benchmarks/results/wasm.json

The nets are MNIST-small (6 x 8,000 random gates), simplified, and the trained model of --model. An image is 784 bytes,
each compared with 127. Times are the least of repeated calls with 8,192 images, copies to and from the module's memory
included; classes come out. Sizes are bytes of the module.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import records
from benchmarks.nets import SIZES, make_net
from gatewise import Circuit, Encoder, Model, simplify
from gatewise.encode import Numeric
from gatewise.export import save_package, to_wasm
from gatewise.export.wasm import LANES
from gatewise.heads import Classes


def make_model() -> Model:
    """MNIST-small with one threshold per pixel."""
    net = make_net(SIZES["mnist-small"], "random")
    circuit = simplify(Circuit.from_layers(net.n_inputs, net.layers(), net.n_groups))
    encoder = Encoder(tuple(Numeric(f"x{i}", np.array([127.0])) for i in range(net.n_inputs)))
    return Model(encoder, circuit, Classes(tuple(range(10)), tau=1.0, group_size=800))


def measure(model: Model, style: Any, seconds: float, folder: Path) -> dict[str, Any]:
    """Size and speed of a style."""
    start = time.perf_counter()
    package = to_wasm(model, style=style, dtype="uint8")
    built = time.perf_counter() - start
    save_package(package, folder / style)
    command = ["node", "time.mjs", f"./{style}", str(model.circuit.n_inputs), str(seconds)]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    sizes = {"n_gates": model.circuit.n_gates, "module_bytes": len(package["model.wasm"])}
    return {"style": style, **sizes, "export_seconds": built} | json.loads(done.stdout)


def main() -> None:
    """Measure, print, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a trained model of 784 columns, measured too")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each call is repeated")
    records.add_options(parser)
    args = parser.parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    models = {"random": make_model()}
    if args.model:
        models["trained"] = Model.load(args.model)
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(Path(__file__).with_name("time.mjs"), folder)
        np.random.default_rng(0).integers(0, 256, (8192, 784), dtype=np.uint8).tofile(folder / "rows.bin")
        for gates, model in models.items():
            for style in LANES:
                results.append({"gates": gates} | measure(model, style, args.seconds, folder))
                print(json.dumps(results[-1]), flush=True)
    if args.record:
        node = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout.strip()
        records.write("wasm", run, {"node": node, "styles": results})


if __name__ == "__main__":
    main()
