"""Ready-made networks: their sizes, that they learn, resume and end in models; deep ones that read the input again."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.sealing import unseal
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from torch.nn import Sequential

from gatewise import Encoder, Model
from gatewise.nn import (
    NO_CONSTANTS,
    Bitwise,
    ConvolutionStage,
    HardStraightThrough,
    LearnedConv2d,
    LearnedLayer,
    LogicConv2d,
    LogicLayer,
    Residual,
    Softmax,
    TrainStep,
    anchored_network,
    convolutional_network,
    discretize,
    discretize_shared,
    strided_network,
    tree_network_cifar10,
    tree_network_mnist,
    with_sampling,
)
from gatewise.train import Bits, Checkpoint, Classification, Cosine, Recipe, fit
from gatewise.wiring import NearbyCandidates, NearbyTaps, TapCandidates, unique_wiring

# Gates as trained, from the published channels, kernels and features; the published tau.
PUBLISHED = {
    "CIFAR-10 S": (lambda: tree_network_cifar10(32, seed=0), 874_496, 20.0),
    "MNIST S": (lambda: tree_network_mnist(16, seed=0), 185_024, 6.5),
    "MNIST M": (lambda: tree_network_mnist(64, seed=0), 740_096, 28.0),
    "strided": (lambda: strided_network((3, 32, 32), 64, seed=0), 98_300, 20.0),
}
SHAPE = (1, 10, 10)


def count_trained(net: Sequential) -> int:
    """Gates at all positions, but for those of pools."""
    return discretize(net).n_gates - sum(
        len(level.a)
        for part, shape in zip(net, follow(net), strict=False)
        if not hasattr(part, "weights") and hasattr(part, "unroll")
        for level in part.unroll(shape)
    )


def follow(net: Sequential) -> list[object]:
    from gatewise.nn.architectures.stages import follow_shapes

    return list(follow_shapes(list(net)[:-1]))


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_are_the_published_ones(name: str) -> None:
    make, n_gates, tau = PUBLISHED[name]
    net = make()
    assert count_trained(net) == n_gates
    assert net[-1].tau == tau
    shared = discretize_shared(net)
    assert shared.expand() == discretize(net)


def test_one_seed_gives_one_network() -> None:
    nets = [tree_network_mnist(2, seed=seed) for seed in (3, 3, 4)]
    assert discretize(nets[0]) == discretize(nets[1]) != discretize(nets[2])
    assert repr(nets[0]) == repr(nets[1])


def test_options_reach_every_layer() -> None:
    softmax, sampling = Softmax(NO_CONSTANTS, initialization=Residual(3.0)), Bitwise()
    net = tree_network_mnist(2, seed=0, taps=NearbyTaps(2), parametrization=softmax, sampling=sampling, tau=3.0)
    parts = [part for part in net if hasattr(part, "sampling")]
    assert all(part.sampling is sampling and part.parametrization is softmax for part in parts)
    assert net[-1].tau == 3.0
    learned = convolutional_network(SHAPE, 10, stages=[ConvolutionStage(4)], taps=TapCandidates(2, k=30), seed=0)
    assert isinstance(learned[1], LearnedConv2d)
    assert learned[1].k == 9
    assert learned[1].sampling is learned[4].sampling
    assert isinstance(with_sampling(net, HardStraightThrough())[1].sampling, HardStraightThrough)


def test_the_first_layer_behind_convolutions_can_learn_its_wires() -> None:
    common = {"stages": [ConvolutionStage(4, padding=0)], "widths": [40, 20], "seed": 0}
    net = convolutional_network(SHAPE, 10, candidates=NearbyCandidates((4, 4, 4), radius=1, k=5), **common)
    first, second = net[4:6]
    assert isinstance(first, LearnedLayer)
    assert isinstance(second, LogicLayer)
    assert first.sampling is second.sampling is net[1].sampling
    assert isinstance(first.sampling, Bitwise)
    _, rows, columns = np.unravel_index(first.candidates.numpy(), (4, 4, 4))
    assert max(np.ptp(rows, axis=2).max(), np.ptp(columns, axis=2).max()) <= 2
    assert discretize_shared(net).expand() == discretize(net)


def make_data() -> tuple[Encoder, np.ndarray, np.ndarray]:
    """A bright line somewhere in the image, from left to right or from top to bottom."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    images = rng.integers(0, 100, (400, 10, 10), dtype=np.uint8)
    for image, label in zip(images, y, strict=True):
        row, column = rng.integers(1, 9, 2)
        if label:
            image[row - 1 : row + 2, column] = 250
        else:
            image[row, column - 1 : column + 2] = 250
    return Encoder.images((10, 10), 1), images.reshape(400, -1), y


@pytest.mark.parametrize("kind", ["soft", "bits", "learned"])
def test_a_convolution_learns_and_ends_in_a_small_model(kind: str, tmp_path: Path) -> None:
    encoder, images, y = make_data()
    options = {
        "soft": {},
        "bits": {"sampling": Bitwise(2.0), "parametrization": Softmax(NO_CONSTANTS, initialization=Residual(2.0))},
        "learned": {"taps": TapCandidates(1, 6), "sampling": Bitwise(2.0)},
    }[kind]
    stages = [ConvolutionStage(24, padding=0)]
    net = convolutional_network(SHAPE, 2, stages=stages, widths=[240], tau=6.0, seed=1, wiring=unique_wiring, **options)
    data = Bits(encoder.encode_rows(images), y)
    # A line is seen by one of 16 places, each read by few gates: 15 epochs are too few, and end at 0.7 to 0.9.
    recipe = Recipe(epochs=40, batch_size=50, schedule=Cosine(0.1), evaluate_every=40)
    result = fit(net, Classification(2), data, recipe=recipe, checkpoint=Checkpoint(tmp_path / kind, every=80))
    assert result.history[-1].score > 0.95
    again = fit(net, Classification(2), data, recipe=recipe, checkpoint=Checkpoint(tmp_path / kind, every=80))
    assert again.circuit() == result.circuit()
    model = result.model(encoder, ["across", "down"], circuit=discretize_shared(result.net))
    assert model == result.model(encoder, ["across", "down"])
    assert json.loads(unseal(model.to_bytes())[1])["circuit"]["kind"] == "convolutional"
    right = model.predict(images) == np.array(["across", "down"])[y]
    assert right.mean() == pytest.approx(result.history[-1].score)
    assert Model.from_bytes(model.to_bytes()) == model


def test_depth_pays_where_layers_read_the_input_again() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (600, 12)).astype(bool)
    y = rows[:, 0] & rows[:, 3] & rows[:, 5] | rows[:, 7] & rows[:, 9] & rows[:, 11]
    recipe = Recipe(epochs=20, batch_size=50, schedule=Cosine(0.05), evaluate_every=20)
    net = anchored_network(12, [96] * 10, 2, tau=6.0, seed=0)
    result = fit(net, Classification(2), Bits(rows, y), recipe=recipe)
    assert result.history[-1].score > 0.95
    assert result.model(Encoder.images((3, 4), 1)).circuit.n_levels > 2


def test_what_native_steps_do_not_know_is_named() -> None:
    net = anchored_network(12, [40] * 3, 2, tau=6.0, seed=0)
    with pytest.raises(ValueError, match=r"net must hold layers of gates without hooks .* got Anchored at 0"):
        TrainStep(net)
    assert isinstance(tree_network_mnist(2, seed=0)[1], LogicConv2d)
    assert torch.isfinite(tree_network_mnist(2, seed=0)(torch.rand(2, 784))).all()
