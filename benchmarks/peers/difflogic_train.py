"""Runner of difflogic's training step on a CPU: its Python implementation, as is and under torch.compile."""

import sys
import types

import torch

from benchmarks.train import stepping

sys.modules["difflogic_cuda"] = types.ModuleType("difflogic_cuda")  # imported at once, used on GPUs only

from difflogic import GroupSum, LogicLayer  # noqa: E402

SETTINGS = ["eager", "compile"]


def build(job: stepping.TrainJob) -> stepping.Step:
    """The peer's network and the step that trains it."""
    layers: list[torch.nn.Module] = []
    n_inputs = job.size.n_inputs
    for width in job.size.widths:
        layers.append(LogicLayer(n_inputs, width, device="cpu", implementation="python"))
        n_inputs = width
    net = torch.nn.Sequential(*layers, GroupSum(job.size.n_groups, job.size.tau, device="cpu"))
    return stepping.make_step(job, net, stepping.fused_adam(net.parameters()), compiled=job.setting == "compile")


if __name__ == "__main__":
    stepping.run(build, SETTINGS)
