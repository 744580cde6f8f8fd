"""One contender's training step, timed in a process of its own: what every training runner shares.

In: a function that builds the contender's step for a job. Out: one JSON line of times, memory and losses.
Import it before the contender: memory counts from here, right after torch itself is loaded.
"""

import argparse
import gc
import json
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks.process import memory_gb, peak_memory_gb
from benchmarks.timer import time_call
from benchmarks.train.sizes import BIT_SIZES, CONVOLUTION_SIZES, SIZES, TrainSize

LEARNING_RATE = 0.01
N_CHECKED_STEPS = 20
MAX_CHECKED_S = 10.0  # for the same: slow steps are checked by fewer, at least five
MIN_STEPS = 5

Step = Callable[[], torch.Tensor | float]  # does forward, backward and update, gives the loss
Build = Callable[["TrainJob"], Step]

MEMORY_AT_IMPORT_GB = memory_gb()


@dataclass(frozen=True)
class TrainJob:
    """What to train: a size, a setting of the contender, and for how long to time it."""

    size: TrainSize
    setting: str
    n_threads: int
    seconds: float

    @classmethod
    def from_command_line(cls, settings: list[str]) -> "TrainJob":
        """Parse the arguments that `benchmarks.train` passes."""
        parser = argparse.ArgumentParser()
        sizes = {**SIZES, **BIT_SIZES, **CONVOLUTION_SIZES}
        parser.add_argument("size", choices=list(sizes))
        parser.add_argument("--setting", choices=settings, required=True)
        parser.add_argument("--threads", type=int, required=True)
        parser.add_argument("--seconds", type=float, required=True)
        args = parser.parse_args()
        return cls(sizes[args.size], args.setting, args.threads, args.seconds)

    def make_batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Random bits as float32, and random classes: the same ones for every contender."""
        generator = torch.Generator().manual_seed(0)
        bits = torch.randint(2, (self.size.batch, self.size.n_inputs), generator=generator)
        return bits.float(), torch.randint(self.size.n_groups, (self.size.batch,), generator=generator)


def make_step(job: TrainJob, net: torch.nn.Module, optimizer: torch.optim.Optimizer, *, compiled: bool = False) -> Step:
    """The plain training step on one fixed batch.

    Compiled are the net and the loss together, which beats compiling the net alone; compiling the optimizer too
    gains nothing over the fused one.
    """
    x, y = job.make_batch()

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(net(x), y)

    take_loss = torch.compile(loss_of, dynamic=False) if compiled else loss_of

    def step() -> torch.Tensor:
        loss = take_loss(x, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    return step


def fused_adam(parameters: Any) -> torch.optim.Adam:
    """torch's fastest Adam on a CPU: one call for all parameters."""
    return torch.optim.Adam(parameters, lr=LEARNING_RATE, fused=True)


def measure_step(build: Build, job: TrainJob) -> dict[str, Any]:
    """Build, take the first step, check that the loss falls, then time.

    "cpu_ms" is the processor time of a step: with one thread, what it takes on an idle machine. "free" is the share of
    its cores' time that others left to the contender.
    """
    torch.set_num_threads(job.n_threads)
    torch.manual_seed(0)
    start = time.perf_counter()
    step = build(job)
    first_loss = float(step())
    warm_up_s = time.perf_counter() - start
    n_steps, checked = 1, time.perf_counter()
    while n_steps < MIN_STEPS or (n_steps < N_CHECKED_STEPS and time.perf_counter() - checked < MAX_CHECKED_S):
        last_loss = float(step())
        n_steps += 1
    if not last_loss < first_loss:
        raise SystemExit(f"loss must fall on a fixed batch, got {first_loss:.4f} then {last_loss:.4f}")
    gc.collect()
    timing = time_call(step, seconds=job.seconds, min_calls=MIN_STEPS)
    return {
        "setting": job.setting,
        "threads": job.n_threads,
        "step_ms": 1e3 * timing.median,
        "fastest_ms": 1e3 * timing.least,
        "cpu_ms": 1e3 * timing.cpu,
        "n_steps": timing.n_calls,
        "free": timing.free,
        "warm_up_s": warm_up_s,
        "peak_memory_mb": 1e3 * (peak_memory_gb() - MEMORY_AT_IMPORT_GB),
        "first_loss": first_loss,
        "last_loss": last_loss,
        "torch": torch.__version__,
    }


def run(build: Build, settings: list[str], explain: Callable[[TrainJob], dict[str, Any]] | None = None) -> None:
    """A runner's main function: prints the findings as JSON and drops what a contender prints while it works."""
    job = TrainJob.from_command_line(settings)
    with redirect_stdout(None):
        result = measure_step(build, job)
        if explain:
            result |= explain(job)
    print(json.dumps(result))
