"""Size in hardware, side by side with torchlogix's Verilog of the same trained nets.

    python -m benchmarks.export.synthesis --data DIR --record      # benchmarks/results/synthesis.json

MNIST nets of six layers are trained for a few epochs. Both Verilogs, from bits to the count of each class, are
simulated with Icarus Verilog on the same rows and must agree with the reference, but that torchlogix's may lack a
constant for each class: it forgets outputs that simplifying has found to be always true. Then yosys (`synth -flatten;
abc -lut`) makes tables of six inputs of them, of the smallest net also tables of four. Beside them: with the index of
the class, and with registers.
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks import records
from benchmarks.data.mnist import find_data, load_mnist
from benchmarks.nets import Net
from benchmarks.peers.install import Peer, find_folder, install
from benchmarks.process import run_pinned, usable_cores
from gatewise import Circuit, Engine, simplify, train
from gatewise.export.verilog import to_verilog
from gatewise.run.reference import count_groups

N_LAYERS, N_EPOCHS, RATE = 6, 4, 0.05
N_ROWS = 64
SIMULATION = Path(__file__).with_name("simulation.v")
TARGET = 0.8  # at most so many of torchlogix's tables
PIPELINE = 6
Bits = NDArray[np.bool_]


def train_net(data: Path, width: int) -> tuple[Net, float]:
    """A trained net as layers, and its accuracy on the test images."""
    images, labels = load_mnist(data)
    task = train.Classification(10)
    torch.manual_seed(0)
    recipe = train.Recipe(epochs=N_EPOCHS, schedule=train.Cosine(RATE))
    net = task.network(images.shape[1], [width] * N_LAYERS, seed=0)
    circuit = train.fit(net, task, train.Bits(images > 127, labels), recipe=recipe).circuit()
    first = circuit.n_inputs + width * np.arange(-1, N_LAYERS - 1)[:, np.newaxis]
    first[0] = 0
    shape = (N_LAYERS, width)
    a, b = (operand.reshape(shape) - 2 - first for operand in (circuit.a, circuit.b))
    made = Net(circuit.n_inputs, 10, a.astype(np.int32), b.astype(np.int32), circuit.gate.reshape(shape))
    test_images, test_labels = load_mnist(data, "t10k")
    return made, float((Engine(circuit).classify(test_images > 127) == test_labels).mean())


def simulate(
    folder: Path, file: str, ports: tuple[str, str, str], rows: NDArray[np.bool_], n_out: int
) -> NDArray[np.bool_]:
    """The output bits of a combinational module, its least significant bit first."""
    top, given, out = ports
    (folder / "rows.txt").write_text("".join("".join("01"[int(bit)] for bit in row[::-1]) + "\n" for row in rows))
    macros = {"TOP": top, "INPUT": given, "OUTPUT": out, "N_IN": rows.shape[1], "N_OUT": n_out, "N_ROWS": len(rows)}
    defines = [f"-D{name}={value}" for name, value in macros.items()]
    subprocess.run(["iverilog", *defines, "-o", "simulation", SIMULATION, file], cwd=folder, check=True)
    done = subprocess.run(["vvp", "-n", "simulation"], cwd=folder, check=True, capture_output=True, text=True)
    return np.array([[bit == "1" for bit in line[::-1]] for line in done.stdout.split()])


def lacking(bits: Bits, expected: NDArray[np.int32], who: str) -> list[int]:
    """What the counts lack, each in an equal part of the bits; exit unless that is the same for all rows."""
    numbers = bits.reshape(*expected.shape, -1).astype(np.int64)
    difference = expected - numbers @ (1 << np.arange(numbers.shape[2]))
    if (difference != difference[0]).any():
        raise SystemExit(f"counts must be those of the reference, got others from the Verilog of {who}")
    return difference[0].tolist()


def synthesize(files: dict[int, Path], top: str) -> dict[str, Any]:
    """Tables of each number of inputs, from its own file; flip-flops and depth with tables of six."""
    command = [sys.executable, "-m", "benchmarks.export.yosys"]
    core = usable_cores()[:1]
    runs = {k: run_pinned([*command, str(file), top, str(k)], core) for k, file in files.items()}
    tables = {f"lut{k}": run["luts"] for k, run in runs.items()}
    return tables | {"ffs": runs[6]["ffs"], "depth6": runs[6]["depth"]}


def compare(net: Net, peer: Peer, luts: list[int], folder: Path) -> dict[str, Any]:
    """Everything measured about one net."""
    net.save(folder / "net.npz")
    command = [*peer.command(), str(folder / "net.npz"), str(folder / "peer.v")]
    n_peer_gates = run_pinned(command, usable_cores()[:1], **peer.environment)["n_gates"]
    raw = Circuit.from_layers(net.n_inputs, net.layers(), net.n_groups)
    circuit = simplify(raw)
    rows = np.random.default_rng(0).integers(0, 2, (N_ROWS, net.n_inputs)).astype(bool)
    expected = count_groups(raw, rows)
    forms: dict[str, dict[str, Any]] = {"counts": {}, "class": {"head": "class"}, "pipelined": {"pipeline": PIPELINE}}
    results = {}
    for form, options in forms.items():
        files = {k: folder / f"{form}{k}.v" for k in luts}
        for lut_inputs, file in files.items():
            given: dict[str, Any] = {"head": "counts", "name": "ours", "lut_inputs": lut_inputs} | options
            made = to_verilog(circuit, **given)
            file.write_bytes(made["ours.v"])
        results[form] = {"n_gates": circuit.n_gates} | synthesize(files, "ours")
    n_out = net.n_groups * (net.gate.shape[1] // net.n_groups).bit_length()
    if any(lacking(simulate(folder, "counts6.v", ("ours", "bits", "counts"), rows, n_out), expected, "gatewise")):
        raise SystemExit("counts must be those of the reference, got others from the Verilog of gatewise")
    slot = 8 if net.gate.shape[1] // net.n_groups < 256 else 16
    bits = simulate(folder, "peer.v", ("circuit", "inp", "scores_flat"), rows, net.n_groups * slot)
    forgotten = sum(lacking(bits, expected, "torchlogix"))
    results["torchlogix"] = {"n_gates": n_peer_gates} | synthesize(dict.fromkeys(luts, folder / "peer.v"), "circuit")
    results["torchlogix"]["forgotten"] = forgotten
    return results


def main() -> None:
    """Train, compare, print the table, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder that has mnist/; $GATEWISE_DATA by default")
    parser.add_argument("--widths", nargs="+", type=int, default=[1000, 2000, 4000], help="gates per layer")
    parser.add_argument("--peer-python", help="a Python of at least 3.12, for torchlogix")
    records.add_options(parser)
    args = parser.parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    peer = replace(install("torchlogix", find_folder(), args.peer_python), runner="verilog")
    reports = []
    for width in args.widths:
        net, accuracy = train_net(find_data(args.data), width)
        print(f"MNIST, {N_LAYERS}x{width} gates, {100 * accuracy:.2f} % of the test images", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            results = compare(net, peer, [4, 6] if width == min(args.widths) else [6], Path(folder))
        for form, sizes in results.items():
            print(f"  {form:<12}" + "".join(f"{name} {value:>7,}  " for name, value in sizes.items()))
        ratio = results["counts"]["lut6"] / results["torchlogix"]["lut6"]
        outcome = "met" if ratio <= TARGET else "missed"
        print(f"  LUT-6 of counts over torchlogix's: {ratio:.3f}, target {TARGET}: {outcome}", flush=True)
        reports.append({"width": width, "accuracy": accuracy, "results": results, "lut6_ratio": ratio})
    if args.record:
        versions = {"yosys": metadata.version("pyosys")}
        records.write("synthesis", run, versions | {"layers": N_LAYERS, "epochs": N_EPOCHS, "nets": reports})


if __name__ == "__main__":
    main()
