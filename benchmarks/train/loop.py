"""What the training loop adds to the bare training step.

    python -m benchmarks.train.loop --record     # benchmarks/results/loop.json: milliseconds per step, three ways

The bare step is that of `benchmarks.train`: `nn.TrainStep` on one fixed batch of float32. `gatewise.train.fit`
does the same on shuffled batches of packed bits, with validation after every 500 steps, and with checkpoints. They take
turns on one core, and the least time counts.
"""

import argparse
import os
import tempfile
from typing import Any

import numpy as np
import torch

from benchmarks import records
from benchmarks.process import usable_cores
from benchmarks.train import ours
from benchmarks.train.sizes import BATCH, SIZES
from benchmarks.train.stepping import TrainJob
from gatewise import train
from gatewise.run.timing import time_in_turns

N_EPOCHS, N_STEPS = 2, 500
N_VALIDATION_ROWS = 10_000


def make_data(job: TrainJob, n_rows: int) -> train.Bits:
    """Random bits and classes."""
    rng = np.random.default_rng(0)
    return train.Bits(rng.integers(0, 2, (n_rows, job.size.n_inputs)), rng.integers(0, job.size.n_groups, n_rows))


def measure(job: TrainJob, rounds: int) -> dict[str, Any]:
    """Milliseconds of a bare step, of a step in `fit` with validation, and with checkpoints."""
    torch.set_num_threads(job.n_threads)
    net = ours.make_net(job)
    task = train.Classification(job.size.n_groups)
    data, validation = make_data(job, N_STEPS * BATCH), make_data(job, N_VALIDATION_ROWS)
    recipe = train.Recipe(epochs=N_EPOCHS, batch_size=BATCH)
    step = ours.build(job)

    def take_steps() -> None:
        for _ in range(N_EPOCHS * N_STEPS):
            step()

    def fit_with_checkpoints() -> None:
        with tempfile.TemporaryDirectory() as folder:
            train.fit(net, task, data, validation=validation, recipe=recipe, checkpoint=folder)

    calls = {
        "bare": take_steps,
        "fit": lambda: train.fit(net, task, data, validation=validation, recipe=recipe),
        "checkpoints": fit_with_checkpoints,
    }
    timings = time_in_turns(calls, seconds=0.0, min_calls=rounds)
    return {f"{name}_ms": 1e3 * timing.least / (N_EPOCHS * N_STEPS) for name, timing in timings.items()}


def main() -> None:
    """Measure, print a line for each size, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=["monk", "adult", "mnist-small"])
    parser.add_argument("--rounds", type=int, default=3)
    records.add_options(parser)
    args = parser.parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    os.sched_setaffinity(0, usable_cores()[:1])
    print(f"{'size':12} {'bare step':>10} {'in fit':>10} {'with checkpoints':>20}")
    results = []
    for name in args.sizes:
        times = measure(TrainJob(SIZES[name], "step", 1, 0.0), args.rounds)
        results.append({"size": name} | times)
        shown = [f"{ms:.3f} ms {100 * (ms / times['bare_ms'] - 1):+.1f} %" for ms in list(times.values())[1:]]
        print(f"{name:12} {times['bare_ms']:7.3f} ms {shown[0]:>18} {shown[1]:>18}", flush=True)
    if args.record:
        records.write("loop", run, {"batch": BATCH, "n_steps": N_EPOCHS * N_STEPS, "results": results})


if __name__ == "__main__":
    main()
