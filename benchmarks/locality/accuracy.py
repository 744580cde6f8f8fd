"""Accuracy of local beside random wiring: equal nets, equal training, MNIST's training images split in two.

    python -m benchmarks.locality.accuracy --data DIR --record      # benchmarks/results/locality_accuracy.json

Hard accuracy on the images held out, for nets that are many blocks wide, from one threshold per pixel (wide layers read
every input often) and from 12 (each input is read by one neighborhood only).
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import records
from benchmarks.data.mnist import find_data, load_mnist
from gatewise.nn import logic_network
from gatewise.wiring import local_wiring, random_wiring

N_HELD_OUT = 10_000
WIDTHS = (24_000, 24_000, 24_000)
N_STEPS = 600
BATCH = 128
N_THRESHOLDS = (1, 12)


def compare(data: Path, n_steps: int) -> list[dict[str, Any]]:
    """Train and print all four nets."""
    images, labels = load_mnist(data)
    results = []
    for n_thresholds in N_THRESHOLDS:
        steps = np.arange(1, n_thresholds + 1) * 256 / (n_thresholds + 1)
        bits = torch.from_numpy((images[:, :, None] > steps).reshape(len(images), -1))
        for wiring in (random_wiring, local_wiring):
            accuracy = train(bits, torch.from_numpy(labels), wiring, n_steps)
            print(f"{bits.shape[1]:,} inputs, {wiring.__name__}: {100 * accuracy:.2f} %", flush=True)
            results.append({"n_inputs": bits.shape[1], "wiring": wiring.__name__, "accuracy": accuracy})
    return results


def train(bits: torch.Tensor, labels: torch.Tensor, wiring: Any, n_steps: int) -> float:
    """Accuracy of the hard net on the last images, after training on the others."""
    generator = torch.Generator().manual_seed(0)
    net = logic_network(bits.shape[1], WIDTHS, 10, seed=0, generator=generator, wiring=wiring)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(n_steps):
        picked = torch.randint(len(bits) - N_HELD_OUT, (BATCH,), generator=generator)
        loss = torch.nn.functional.cross_entropy(net(bits[picked].float()), labels[picked])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        held_out = [net(part.float()).argmax(1) for part in bits[-N_HELD_OUT:].split(1000)]
    return float((torch.cat(held_out) == labels[-N_HELD_OUT:]).float().mean())


def main() -> None:
    """Train, print, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with mnist/ (default: $GATEWISE_DATA)")
    parser.add_argument("--steps", type=int, default=N_STEPS)
    records.add_options(parser)
    args = parser.parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    results = compare(find_data(args.data), args.steps)
    if args.record:
        findings = {"widths": WIDTHS, "steps": args.steps, "batch": BATCH, "held_out": N_HELD_OUT, "nets": results}
        records.write("locality_accuracy", run, findings)


if __name__ == "__main__":
    main()
