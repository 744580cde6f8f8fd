"""The nets that the training benchmark trains: the paper's smaller architectures, at its batch size."""

from dataclasses import dataclass

BATCH = 100


@dataclass(frozen=True)
class TrainSize:
    """Shape of a net; the sums of the groups are divided by `tau`."""

    n_inputs: int
    n_layers: int
    width: int
    n_groups: int
    tau: float

    @property
    def widths(self) -> list[int]:
        return [self.width] * self.n_layers


SIZES = {
    "monk": TrainSize(17, 6, 24, 2, tau=1),
    "adult": TrainSize(116, 5, 256, 2, tau=10),
    "mnist-small": TrainSize(784, 6, 8_000, 10, tau=10),
    "cifar-small": TrainSize(9_216, 4, 12_000, 10, tau=100),
    "mnist-normal": TrainSize(784, 6, 64_000, 10, tau=30),
}
