"""Ready-made networks of convolutions: published architectures, one function each.

In: a size, and what every layer is to be built with. Out: a plain `torch.nn.Sequential` that reads rows of bits as
`Encoder.images` lays them out. Recipes are those of the papers; `experiments/points/convolution.py` has ours.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import nn

from gatewise.checks import MAX_SEED, as_integer
from gatewise.nn.base import draw_seed
from gatewise.nn.convolution.base import Convolution
from gatewise.nn.convolution.layer import LearnedConv2d, LogicConv2d
from gatewise.nn.convolution.maps import FeatureMaps, OrPool2d
from gatewise.nn.head import GroupSum
from gatewise.nn.layer import LogicLayer
from gatewise.nn.learned import RESIDUAL, LearnedLayer
from gatewise.nn.parametrization import NO_CONSTANTS, Parametrization, Residual, Softmax
from gatewise.nn.sampling import Bitwise, Sampling, Soft
from gatewise.wiring import Candidates, NearbyTaps, RandomTaps, TapCandidates, Taps, Wiring, random_wiring
from gatewise.wiring.window import Pair, Shape

CIFAR10_TAU = {32: 20.0, 256: 40.0}
MNIST_TAU = {16: 6.5, 64: 28.0, 1024: 35.0}
STRIDED_TAU = {64: 20.0, 128: 40.0, 256: 63.0, 1024: 160.0}
BY_PINS = Softmax(NO_CONSTANTS, initialization=Residual(RESIDUAL))  # as all layers whose wires are learned
DENSE = (1280, 640, 320)  # gates behind the convolutions of a tree network, times k


class ConvolutionStage(NamedTuple):
    """A convolution, and whether windows of 2 x 2 are pooled behind it."""

    channels: int
    kernel_size: int = 3
    stride: int | Pair = 1
    padding: int | Pair = 1
    depth: int = 3
    is_pooled: bool = True


def tree_network_cifar10(k: int = 32, *, n_thresholds: int = 3, **options: Any) -> nn.Sequential:
    """LogicTreeNet for CIFAR-10: four pooled convolutions of k, 4k, 16k and 32k trees, and three layers.

    Petersen, Kuehne, Borgelt, Welzel and Ermon, Convolutional differentiable logic gate networks, 2024. Sizes S and M
    have k = 32 and 256. Their recipe: AdamW at 0.02 with a weight decay of 0.002, batches of 128, tau 20 and 40.

    Parameters
    ----------
    k : int
    n_thresholds : int
        Bits per value.
    **options
        Of `convolutional_network`; tau is the paper's for its sizes.

    Notes
    -----
    `gatewise.train` has Adam without weight decay; `torch.optim.AdamW` trains the network by autograd.

    Examples
    --------
    >>> net = tree_network_cifar10(2, seed=0)
    >>> net(torch.rand(5, 3 * 32 * 32 * 3)).shape
    torch.Size([5, 10])
    """
    stages = [ConvolutionStage(channels) for channels in (k, 4 * k, 16 * k, 32 * k)]
    sizes: dict[str, Any] = {"stages": stages, "widths": [n * k for n in DENSE], "tau": CIFAR10_TAU.get(k)}
    return convolutional_network((3, 32, 32), 10, n_thresholds=n_thresholds, **{**sizes, **options})


def tree_network_mnist(k: int = 16, *, n_thresholds: int = 1, **options: Any) -> nn.Sequential:
    """LogicTreeNet for MNIST: three pooled convolutions of k, 3k and 9k trees, the first of 5 x 5, and three layers.

    Sizes S and M have k = 16 and 64; see `tree_network_cifar10` for the source and the parameters. Its recipe: Adam at
    0.01, batches of 128, tau 6.5 and 28.

    Examples
    --------
    >>> net = tree_network_mnist(2, seed=0)
    >>> net(torch.rand(5, 784)).shape
    torch.Size([5, 10])
    """
    stages = [ConvolutionStage(k, kernel_size=5, padding=0), ConvolutionStage(3 * k), ConvolutionStage(9 * k)]
    sizes: dict[str, Any] = {"stages": stages, "widths": [n * k for n in DENSE], "tau": MNIST_TAU.get(k)}
    return convolutional_network((1, 28, 28), 10, n_thresholds=n_thresholds, **{**sizes, **options})


def strided_network(shape: Sequence[int], k: int = 64, *, n_thresholds: int = 3, **options: Any) -> nn.Sequential:
    """Four convolutions of k, k, 4k and 4k single gates, the first and third at every other pixel, and two layers.

    After CompactLogic, arXiv:2602.05830: a gate has two taps in one channel, and nothing is pooled. Its recipe: Adam at
    0.01 to 0.02, batches of 128, tau 20, 40, 63 for k = 64, 128, 256, with 3, 3, 7 thresholds.

    Parameters
    ----------
    shape : (channels, rows, columns)
    k, n_thresholds, **options
        As for `tree_network_cifar10`.

    Examples
    --------
    >>> net = strided_network((3, 32, 32), k=4, seed=0)
    >>> net(torch.rand(5, 3 * 32 * 32 * 3)).shape
    torch.Size([5, 10])
    """
    sizes = ((k, 2), (k, 1), (4 * k, 2), (4 * k, 1))
    stages = [ConvolutionStage(channels, stride=stride, depth=1, is_pooled=False) for channels, stride in sizes]
    own: dict[str, Any] = {"stages": stages, "taps": RandomTaps(1), "tau": STRIDED_TAU.get(k)}
    return convolutional_network(shape, 10, n_thresholds=n_thresholds, **{**own, **options})


def convolutional_network(
    shape: Sequence[int],
    groups: int,
    *,
    stages: Sequence[ConvolutionStage],
    widths: Sequence[int] | None = None,
    n_thresholds: int = 1,
    taps: Taps | None = None,
    candidates: Candidates | None = None,
    tau: float | None = None,
    seed: int | None = None,
    parametrization: Parametrization | None = None,
    sampling: Sampling | None = None,
    wiring: Wiring = random_wiring,
) -> nn.Sequential:
    """Maps, convolutions with pools, layers and sums, all weights and wires from one seed.

    Parameters
    ----------
    shape : (channels, rows, columns)
        Of an image.
    groups : int
    stages : sequence of ConvolutionStage
    widths : gates of each layer behind the convolutions, optional
        By default two layers as wide as what they read, as far as the groups divide it.
    n_thresholds : int
        Bits per value.
    taps : RandomTaps, NearbyTaps or TapCandidates, optional
        Those of `TapCandidates` are learned.
    candidates : RandomCandidates, AllInputs, or a function like them, optional
        What the first layer behind the convolutions learns to read; by default its wires are fixed.
    tau : float, optional
        See `GroupSum`.
    seed : int, optional
        Of wires and weights of all layers. Drawn by default.
    parametrization, sampling
        Of all layers; by default those of `LearnedConv2d` if taps or wires are learned, else those of `LogicConv2d`.
    wiring : as for `LogicLayer`
        Of the layers behind the convolutions whose wires are fixed.

    Examples
    --------
    >>> net = convolutional_network((1, 28, 28), 10, stages=[ConvolutionStage(8)], widths=[1000], seed=0)
    >>> [type(module).__name__ for module in net]
    ['FeatureMaps', 'LogicConv2d', 'OrPool2d', 'Flatten', 'LogicLayer', 'GroupSum']
    """
    seed = draw_seed(None) if seed is None else as_integer("seed", seed, 0, MAX_SEED)
    learned = isinstance(taps, TapCandidates) or candidates is not None
    common: dict[str, Any] = {
        "seed": seed,
        "generator": torch.Generator().manual_seed(seed),
        "parametrization": parametrization or (BY_PINS if learned else Softmax(initialization=Residual())),
        "sampling": sampling or (Bitwise() if learned else Soft()),
    }
    first = FeatureMaps(shape, n_thresholds)
    modules: list[nn.Module] = [first]
    maps = first.maps_shape
    for position, stage in enumerate(stages):
        convolution = _make_convolution(maps, stage, taps, position=position, **common)
        modules.append(convolution)
        maps = convolution.shape_after(maps)
        if stage.is_pooled:
            modules.append(OrPool2d(2))
            maps = OrPool2d(2).shape_after(maps)
    n_features = maps[0] * maps[1] * maps[2]
    widths = [n_features, n_features // groups * groups] if widths is None else widths
    modules.append(nn.Flatten(-3))
    for position, (n_in, n_out) in enumerate(pairwise([n_features, *widths])):
        if position == 0 and candidates is not None:
            modules.append(LearnedLayer(n_in, n_out, position=position, candidates=candidates, **common))
        else:
            modules.append(LogicLayer(n_in, n_out, position=position, wiring=wiring, **common))
    return nn.Sequential(*modules, GroupSum(groups, tau))


def _make_convolution(maps: Shape, stage: ConvolutionStage, taps: Taps | None, **common: Any) -> Convolution:
    """A convolution whose taps are learned if they are candidates, and of no more channels than there are."""
    options = {"depth": stage.depth, "stride": stage.stride, "padding": stage.padding, **common}
    if isinstance(taps, RandomTaps | NearbyTaps | TapCandidates):
        taps = replace(taps, channels=min(taps.channels, maps[0]))
    if isinstance(taps, TapCandidates):
        candidates = replace(taps, k=min(taps.k, taps.channels * stage.kernel_size**2))
        return LearnedConv2d(maps[0], stage.channels, stage.kernel_size, candidates=candidates, **options)
    return LogicConv2d(maps[0], stage.channels, stage.kernel_size, taps=taps, **options)
