"""Runner of gatewise's training step: the paper's straight network, and where its time goes.

"step" is `nn.TrainStep`, one native call; "autograd" is the loop that one writes in torch, with torch's fused Adam.
"""

from typing import Any

import torch

from benchmarks.train import stepping  # first: memory counts from here
from benchmarks.train.breakdown import explain
from gatewise import nn

SETTINGS = ["step", "autograd"]


def make_net(job: stepping.TrainJob) -> nn.LogicNetwork:
    """The paper's straight network of that size."""
    size = job.size
    generator = torch.Generator().manual_seed(0)
    return nn.logic_network(size.n_inputs, size.widths, size.n_groups, tau=size.tau, generator=generator)


def build(job: stepping.TrainJob) -> stepping.Step:
    """The step as a user writes it."""
    net = make_net(job)
    if job.setting == "autograd":
        return stepping.make_step(job, net, stepping.fused_adam(net.parameters()))
    step = nn.TrainStep(net, learning_rate=stepping.LEARNING_RATE)
    x, y = job.make_batch()
    return lambda: step(x, y)


def explain_step(job: stepping.TrainJob) -> dict[str, Any]:
    """The parts of the native step; of one thread, because parts of small networks would wait for a second one."""
    if job.setting == "autograd" or job.n_threads > 1:
        return {}
    net = make_net(job)
    return {"breakdown": explain(net, nn.TrainStep(net, learning_rate=stepping.LEARNING_RATE), *job.make_batch())}


if __name__ == "__main__":
    stepping.run(build, SETTINGS, explain_step)
