"""Runner of gatewise's training step of a network of convolutions.

"bits" is `nn.TrainStep` of a network that trains on bits, "step" of one on floats.
"""

from typing import Any

from benchmarks.train import stepping  # first: memory counts from here
from benchmarks.train.sizes import ConvolutionSize
from gatewise import nn
from gatewise.nn.architectures.convolutional import ConvolutionStage, convolutional_network

SETTINGS = ["bits", "step"]


def build(job: stepping.TrainJob) -> stepping.Step:
    """The step as a user writes it."""
    size = job.size
    assert isinstance(size, ConvolutionSize)
    options: dict[str, Any] = {"parametrization": nn.Softmax()}
    if job.setting == "bits":
        options["sampling"] = nn.Bitwise(2.0)
    net = convolutional_network(
        size.shape,
        size.n_groups,
        stages=[ConvolutionStage(channels, depth=size.depth) for channels in size.channels],
        widths=size.widths,
        tau=size.tau,
        seed=0,
        **options,
    )
    step = nn.TrainStep(net, learning_rate=stepping.LEARNING_RATE)
    x, y = job.make_batch()
    rows = x.bool() if job.setting == "bits" else x
    return lambda: step(rows, y)


if __name__ == "__main__":
    stepping.run(build, SETTINGS)
