"""What the training loop adds to the bare training step.

    python benchmarks/loop.py [--sizes monk adult mnist-small] [--threads 1] [--rounds 5]

The bare step is that of `ours_train.py`: `nn.TrainStep` on one fixed batch of float32. `gatewise.train.fit`
does the same on shuffled batches of packed bits, with validation after every 500 steps, and with checkpoints. Both take
turns, and the least processor time of a step counts, so that other processes disturb little.
"""

import argparse
import tempfile
import time
from collections.abc import Callable

import numpy as np
import ours_train
import stepping
import torch
from train_sizes import BATCH, SIZES

from gatewise import train

N_EPOCHS, N_STEPS = 2, 500
N_VALIDATION_ROWS = 10_000


def make_data(job: stepping.TrainJob, n_rows: int) -> train.Bits:
    """Random bits and classes."""
    rng = np.random.default_rng(0)
    return train.Bits(rng.integers(0, 2, (n_rows, job.size.n_inputs)), rng.integers(0, job.size.n_groups, n_rows))


def cpu_ms(call: Callable[[], object], n_steps: int) -> float:
    """Processor time of a step."""
    start = time.process_time()
    call()
    return 1e3 * (time.process_time() - start) / n_steps


def measure(job: stepping.TrainJob, rounds: int) -> dict[str, float]:
    """Milliseconds of a bare step on floats and on bits, of a step in `fit`, with validation, and with checkpoints."""
    torch.set_num_threads(job.n_threads)
    net = ours_train.make_net(job)
    task = train.Classification(job.size.n_groups)
    data, validation = make_data(job, N_STEPS * BATCH), make_data(job, N_VALIDATION_ROWS)
    recipe = train.Recipe(epochs=N_EPOCHS, batch_size=BATCH)
    bare = ours_train.build(job)

    def fit_with_checkpoints() -> None:
        with tempfile.TemporaryDirectory() as folder:
            train.fit(net, task, data, validation=validation, recipe=recipe, checkpoint=folder)

    calls = {
        "bare": lambda: [bare() for _ in range(N_EPOCHS * N_STEPS)],
        "fit": lambda: train.fit(net, task, data, validation=validation, recipe=recipe),
        "checkpoints": fit_with_checkpoints,
    }
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            least[name] = min(least[name], cpu_ms(call, N_EPOCHS * N_STEPS))
    return least


def main() -> None:
    """Measure and print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=["monk", "adult", "mnist-small"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    print(f"{'size':12} {'bare step':>10} {'in fit':>10} {'with checkpoints':>20}")
    for name in args.sizes:
        least = measure(stepping.TrainJob(SIZES[name], "step", args.threads, 0.0), args.rounds)
        added = {key: f"{least[key]:.3f} ms {100 * (least[key] / least['bare'] - 1):+.1f} %" for key in least}
        print(f"{name:12} {least['bare']:7.3f} ms {added['fit']:>18} {added['checkpoints']:>18}", flush=True)


if __name__ == "__main__":
    main()
