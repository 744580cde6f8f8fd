"""The nets that the training benchmark trains: the paper's smaller architectures, at its batch size."""

from dataclasses import dataclass, replace

BATCH = 100


@dataclass(frozen=True)
class TrainSize:
    """Shape of a net, and of its batches; the sums of the groups are divided by `tau`."""

    n_inputs: int
    n_layers: int
    width: int
    n_groups: int
    tau: float
    batch: int = BATCH
    k: int = 0  # candidates of a pin; 0: the wires are fixed

    @property
    def widths(self) -> list[int]:
        """Gates of each layer."""
        return [self.width] * self.n_layers


SIZES = {
    "monk": TrainSize(17, 6, 24, 2, tau=1),
    "adult": TrainSize(116, 5, 256, 2, tau=10),
    "mnist-small": TrainSize(784, 6, 8_000, 10, tau=10),
    "cifar-small": TrainSize(9_216, 4, 12_000, 10, tau=100),
    "mnist-normal": TrainSize(784, 6, 64_000, 10, tau=30),
}

BIT_SIZES = {  # of the benchmark of training on bits
    "mnist-small": SIZES["mnist-small"],
    "mnist-small-256": replace(SIZES["mnist-small"], batch=256),
    "learned-16k": TrainSize(784, 2, 8_000, 10, tau=10, batch=256, k=32),
    "mnist-normal": SIZES["mnist-normal"],
}


@dataclass(frozen=True)
class ConvolutionSize(TrainSize):
    """The same behind convolutions of so many trees, each of 3 x 3 at every pixel, eight leaves, and pooled 2 x 2."""

    shape: tuple[int, int, int] = (1, 28, 28)  # maps, rows, columns
    channels: tuple[int, ...] = ()
    depth: int = 3


CONVOLUTION_SIZES = {  # as LogicTreeNet S, but for 3 x 3 in the first layer and two equal ones behind
    "trees-mnist": ConvolutionSize(784, 2, 10_240, 10, tau=6.5, batch=128, channels=(16, 48, 144)),
    "trees-cifar": ConvolutionSize(
        9_216, 2, 20_480, 10, tau=20, batch=128, shape=(9, 32, 32), channels=(32, 128, 512, 1024)
    ),
}
