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
