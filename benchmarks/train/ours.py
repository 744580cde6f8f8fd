"""Runner of gatewise's training step: the paper's straight network, and where its time goes.

"step" is `nn.TrainStep`, one native call; "autograd" is the loop that one writes in torch, with torch's fused Adam;
"bits" is `nn.TrainStep` of a network that trains on bits, with learned wires if the size has candidates.
"""

from typing import Any

import torch

from benchmarks.train import stepping  # first: memory counts from here
from benchmarks.train.breakdown import explain
from gatewise import nn
from gatewise.wiring import RandomCandidates

SETTINGS = ["step", "autograd", "bits"]


def make_net(job: stepping.TrainJob) -> nn.LogicNetwork:
    """The paper's straight network of that size."""
    size = job.size
    options: dict[str, Any] = {"generator": torch.Generator().manual_seed(0)}
    if job.setting == "bits":
        options |= {"sampling": nn.Bitwise(), "candidates": RandomCandidates(size.k) if size.k else None}
    return nn.logic_network(size.n_inputs, size.widths, size.n_groups, tau=size.tau, **options)


def build(job: stepping.TrainJob) -> stepping.Step:
    """The step as a user writes it."""
    net = make_net(job)
    if job.setting == "autograd":
        return stepping.make_step(job, net, stepping.fused_adam(net.parameters()))
    step = nn.TrainStep(net, learning_rate=stepping.LEARNING_RATE)
    x, y = job.make_batch()
    rows = x.bool() if job.setting == "bits" else x
    return lambda: step(rows, y)


def explain_step(job: stepping.TrainJob) -> dict[str, Any]:
    """The parts of the native step; of one thread, because parts of small networks would wait for a second one."""
    if job.setting != "step" or job.n_threads > 1:
        return {}
    net = make_net(job)
    return {"breakdown": explain(net, nn.TrainStep(net, learning_rate=stepping.LEARNING_RATE), *job.make_batch())}


if __name__ == "__main__":
    stepping.run(build, SETTINGS, explain_step)
