"""Runner of torchlogix's training step of a network of convolutions, settings as in `torchlogix_train`."""

import torch

from benchmarks.peers.torchlogix_train import SETTINGS
from benchmarks.train import stepping
from benchmarks.train.sizes import ConvolutionSize

# isort: split
from torchlogix.layers import GroupSum, LogicConv2d, LogicDense, OrPooling2d


def build(job: stepping.TrainJob) -> stepping.Step:
    """The peer's network and the step that trains it."""
    size = job.size
    assert isinstance(size, ConvolutionSize)
    parametrization, mode = job.setting.split("-")
    common = {
        "parametrization": parametrization,
        "parametrization_kwargs": {"forward_sampling": "soft", "weight_init": "random"},
    }
    maps, side, _ = size.shape
    layers: list[torch.nn.Module] = [torch.nn.Unflatten(1, size.shape)]
    for channels in size.channels:
        window = {"tree_depth": size.depth, "receptive_field_size": 3, "padding": 1}
        layers.append(LogicConv2d(in_dim=side, channels=maps, num_kernels=channels, **window, **common))
        layers.append(OrPooling2d(kernel_size=2, stride=2))
        maps, side = channels, side // 2
    layers.append(torch.nn.Flatten())
    n_inputs = maps * side * side
    for width in size.widths:
        layers.append(LogicDense(n_inputs, width, **common))
        n_inputs = width
    net = torch.nn.Sequential(*layers, GroupSum(size.n_groups, size.tau))
    return stepping.make_step(job, net, stepping.fused_adam(net.parameters()), compiled=mode == "compile")


if __name__ == "__main__":
    stepping.run(build, SETTINGS)
