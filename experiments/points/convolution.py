"""Networks of convolutions on images, trained on bits: published architectures, and their sizes in between.

In: the name of a point. Out: its network and how it is trained. The gates of a record are those at all positions, pools
included.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from experiments.data import Dataset
from experiments.plans import Plan, plan_on_bits
from gatewise.nn import (
    Bitwise,
    ConvolutionStage,
    Residual,
    Softmax,
    convolutional_network,
    strided_network,
    tree_network_cifar10,
    tree_network_mnist,
)
from gatewise.nn.parametrization import NO_CONSTANTS
from gatewise.wiring import NearbyCandidates, NearbyTaps, RandomCandidates, TapCandidates, Taps, unique_wiring
from gatewise.wiring.window import Shape, Window

RECIPE = "convolution"
STAGES = {  # channels are counted in the k of a point
    "trees": (ConvolutionStage(1, kernel_size=5, padding=0, depth=2),),
    "gates": (ConvolutionStage(1, depth=1),),
    "trees, trees": (ConvolutionStage(1, kernel_size=5, padding=0, depth=2), ConvolutionStage(4, depth=2)),
    "gates, gates": (ConvolutionStage(1, depth=1), ConvolutionStage(4, depth=1)),
    "gates, trees": (ConvolutionStage(1, depth=1), ConvolutionStage(4, depth=2)),
}


@dataclass(frozen=True)
class ConvolutionPoint:
    """A network of convolutions: its data, its architecture and size, and how it is trained.

    `make` takes the size `k`, `n_thresholds`, `tau`, a seed, and options of all layers; `pixels` is the largest shift
    of an image, and `residual` the logit of the gate A that weights begin with. Without `stages`, `taps`, or `widths`
    of the layers after the convolutions, they are those of the architecture.
    """

    name: str
    data: str
    make: Callable[..., torch.nn.Module]
    k: int
    tau: float
    epochs: int
    n_thresholds: int = 3
    temperature: float = 2.0
    learning_rate: float = 0.1
    residual: float = 2.0
    batch_size: int = 128
    pixels: int = 1
    mirror: bool = False
    stages: tuple[ConvolutionStage, ...] = ()
    taps: Taps | None = None
    widths: tuple[int, ...] = ()

    def plan(self, data: Dataset) -> Plan:
        """How it is trained, on all training images."""
        assert data.shape is not None
        return plan_on_bits(
            data.shape,
            self.n_thresholds,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            pixels=self.pixels,
            mirror=self.mirror,
            tau=self.tau,
            batch_size=self.batch_size,
            build=self.build,
        )

    def build(self, seed: int) -> torch.nn.Module:
        """The network of a seed; its layers share one temperature."""
        options = {name: value for name in ("stages", "taps", "widths") if (value := getattr(self, name))}
        return self.make(
            k=self.k,
            n_thresholds=self.n_thresholds,
            tau=self.tau,
            seed=seed,
            sampling=Bitwise(self.temperature),
            parametrization=Softmax(NO_CONSTANTS, initialization=Residual(self.residual)),
            wiring=unique_wiring,
            **options,
        )

    def list_changes(self) -> dict[str, list[Any]]:
        """Other values of each choice that the study varies."""
        n = self.n_thresholds
        return {
            "tau": [self.tau / 1.4, self.tau * 1.4],
            "learning_rate": [self.learning_rate / 2, self.learning_rate * 2],
            "temperature": [self.temperature / 2, self.temperature * 2],
            "residual": [self.residual / 2, self.residual * 1.5],
            "stages": [*STAGES.values()],
            "taps": [NearbyTaps(), TapCandidates()],
            "n_thresholds": [max(1, n // 2), 2 * n + 1],
            "pixels": [max(0, self.pixels - 1), self.pixels + 1],
            "batch_size": [2 * self.batch_size],
            "widths": [tuple(2 * width for width in self.widths)],
        }


def learned_network(
    shape: Shape,
    *,
    stages: Sequence[ConvolutionStage],
    widths: Sequence[int],
    k: int,
    n_candidates: int,
    radius: int | None = None,
    **options: Any,
) -> torch.nn.Module:
    """Pooled convolutions, and layers of which the first learns its wires: LogicTreeNet for fewer gates.

    Channels of the stages are counted in k. The pins of the layer choose from so many candidates, at most `radius`
    pixels of its maps from their gate, by default anywhere.
    """
    stages = [stage._replace(channels=stage.channels * k) for stage in stages]
    maps = shape
    for stage in stages:
        window = Window(stage.kernel_size, stage.stride, stage.padding)
        rows, columns = window.count_positions(maps)
        maps = (stage.channels, rows // 2, columns // 2) if stage.is_pooled else (stage.channels, rows, columns)
    near = None if radius is None else NearbyCandidates(maps, 1, radius, n_candidates)
    candidates = near or RandomCandidates(n_candidates)
    return convolutional_network(shape, 10, stages=stages, widths=widths, candidates=candidates, **options)


_MNIST = ConvolutionPoint("mnist-tree-s", "mnist", tree_network_mnist, k=16, tau=6.5, epochs=30)
_FASHION = replace(_MNIST, name="fashion-tree-s", data="fashion-mnist", n_thresholds=7, tau=13.0)
_CIFAR = ConvolutionPoint(
    "cifar-tree-s", "cifar10", tree_network_cifar10, k=32, tau=20.0, epochs=60, pixels=2, mirror=True
)
_STRIDED = replace(_CIFAR, name="cifar-strided-s", make=partial(strided_network, (3, 32, 32)), k=64)
_MNIST_LEARNED = replace(
    _MNIST,
    name="mnist-learned-150k",
    make=partial(learned_network, (1, 28, 28), n_candidates=16, radius=4),
    stages=(ConvolutionStage(1, kernel_size=5, padding=0),),
    widths=(20_000, 50_000),
    tau=24.0,
    epochs=60,
    temperature=4.0,
    learning_rate=0.2,
)
_CIFAR_LEARNED = replace(
    _CIFAR,
    name="cifar-learned-s",
    make=partial(learned_network, (3, 32, 32), n_candidates=16, radius=4),
    stages=STAGES["trees"],
    widths=(16_000, 40_000),
    tau=84.0,
    n_thresholds=7,
    temperature=4.0,
)
CONVOLUTIONS = {
    point.name: point
    for point in (
        _MNIST_LEARNED,
        _CIFAR_LEARNED,
        replace(_CIFAR_LEARNED, name="cifar-learned-400k", widths=(100_000, 180_000), tau=140.0, epochs=40),
        replace(
            _CIFAR_LEARNED,
            name="cifar-learned-m",
            make=partial(learned_network, (3, 32, 32), n_candidates=16, radius=2),
            stages=STAGES["gates, trees"],
            k=96,
            widths=(120_000, 240_000),
            tau=165.0,
            batch_size=256,
            epochs=40,
        ),
        replace(_MNIST, name="mnist-tree-150k", k=11),
        _MNIST,
        replace(_MNIST, name="mnist-tree-m", k=64, tau=28.0),
        _FASHION,
        replace(_CIFAR, name="cifar-tree-400k", k=13, tau=14.0),
        _CIFAR,
        replace(_CIFAR, name="cifar-tree-m", k=256, tau=40.0),
        _STRIDED,
        replace(_STRIDED, name="cifar-strided-m", k=256, tau=63.0, n_thresholds=7),
    )
}
