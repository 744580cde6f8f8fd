"""Runner of gatewise's training step: the paper's straight network, and where its time goes."""

from typing import Any

import stepping  # first: memory counts from here
import torch
from breakdown import NativeClock, Phases, explain

from gatewise import _native, nn

SETTINGS = ["default"]


def build_parts(job: stepping.TrainJob) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """The network, and gatewise's own optimizer or else torch's."""
    size = job.size
    generator = torch.Generator().manual_seed(0)
    net = nn.logic_network(size.n_inputs, size.widths, size.n_groups, tau=size.tau, generator=generator)
    adam = getattr(nn, "Adam", None)
    optimizer = adam(net.parameters(), lr=stepping.LEARNING_RATE) if adam else stepping.fused_adam(net.parameters())
    return net, optimizer


def build(job: stepping.TrainJob) -> stepping.Step:
    """The step as a user writes it."""
    return stepping.make_step(job, *build_parts(job))


def split_step(job: stepping.TrainJob) -> Phases:
    """The same step, one call a phase."""
    net, optimizer = build_parts(job)
    x, y = job.make_batch()
    made: dict[str, torch.Tensor] = {}

    def forward() -> None:
        made["sums"] = net(x)

    def take_loss() -> None:
        made["loss"] = torch.nn.functional.cross_entropy(made["sums"], y)

    def update() -> None:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return {"forward": forward, "loss": take_loss, "backward": lambda: made["loss"].backward(), "optimizer": update}


def explain_step(job: stepping.TrainJob) -> dict[str, Any]:
    """The breakdown, after the step itself was timed, because the clock stays in the native module."""
    phases = split_step(job)
    clock = NativeClock(_native, "gatewise")
    for call in phases.values():
        call()
    clock.calls.clear()
    return {"breakdown": explain(phases, clock)}


if __name__ == "__main__":
    stepping.run(build, SETTINGS, explain_step)
