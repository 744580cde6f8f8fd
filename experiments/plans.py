"""How networks are trained: the paper's recipe, and ours.

In: a setting of the paper and its data. Out: a `Plan`. "paper" is its own setting. "ours" has as many gates and layers,
and wiring that is random and fixed, but for MONK-3, where fewer gates learn their wires; everything that differs is in
this file. Choices were made on validation rows, for MONK and Breast Cancer on training rows; tau of the larger CIFAR
networks is scaled by the root of their width.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from torch.nn import Module

from experiments.data import Dataset
from experiments.settings import Setting
from gatewise.encode import Encoder
from gatewise.encode.columns import Categorical, Column, Numeric
from gatewise.nn import Bitwise, Residual, Softmax
from gatewise.nn.parametrization import NO_CONSTANTS
from gatewise.train import Chain, Constant, Cosine, Erase, Exchange, Mirror, Shift, Sometimes, Warp
from gatewise.train.augment import Augment
from gatewise.train.recipe import Schedule
from gatewise.wiring import AllInputs, ButterflyWiring, NearbyWiring, unique_wiring

ADULT_BINS = {  # of the paper's code; it leaves out fnlwgt and education-num
    "age": (20.5, 29.5, 44.5, 59.5),
    "capital-gain": (0.5, 4999.5),
    "capital-loss": (0.5, 4999.5),
    "hours-per-week": (0.5, 12.5, 25.5, 40.5, 59.5),
}
SMALL_WIDTH = 12_000  # of the small network of CIFAR-10
WARMUP = 0.02
RESIDUAL = 3.0


@dataclass(frozen=True)
class Stage:
    """Epochs at a schedule; hard ones are straight through, from what the stage before it gave."""

    epochs: int
    schedule: Schedule
    hard: bool = False


@dataclass(frozen=True)
class Plan:
    """How a network is trained.

    `held_out` is the share of training rows that chooses the best epoch; without one, the last network counts. An epoch
    goes through the training rows `repeats` times. Of `n_restarts` networks, each with its own wiring, the one with the
    shortest description is kept: its gates after optimization, and `exception_gates` for each training row that it gets
    wrong. A gate takes 4 bits if its wires are given, 12 or more if not; to name one of some hundred rows takes 7 or 8:
    as much as 2 gates, or 1. Lookup tables are counted of circuits that are synthesized. Learned wiring may `exchange`
    its candidates, and has `widths` of its own. A network of other layers is what `build` makes of a seed.
    """

    encoder: Encoder
    stages: tuple[Stage, ...]
    tau: float
    batch_size: int = 100
    augment: Augment | None = None
    held_out: float = 0.1
    repeats: int = 1
    n_restarts: int = 1
    exception_gates: int = 2
    is_synthesized: bool = False
    exchange: Exchange | None = None
    label_smoothing: float = 0.0
    widths: tuple[int, ...] | None = None  # instead of the setting's
    build: Callable[[int], Module] | None = None
    options: dict[str, Any] = field(default_factory=dict)  # of the network

    @property
    def epochs(self) -> int:
        """Of all stages."""
        return sum(stage.epochs for stage in self.stages)

    def scaled(self, epochs: int) -> "Plan":
        """The same plan with that many epochs in all, at least one a stage."""
        shares = [max(1, round(stage.epochs * epochs / self.epochs)) for stage in self.stages]
        stages = tuple(replace(stage, epochs=n) for stage, n in zip(self.stages, shares, strict=True))
        return replace(self, stages=stages)


PlanOf: TypeAlias = Callable[[Setting, Dataset], Plan]


def paper(setting: Setting, data: Dataset) -> Plan:
    """Softmax over 16 operators from N(0, 1), Adam at 0.01, batches of 100, the best of 200 epochs on rows held out."""
    encoder = encode_images(setting, data) if data.shape else one_hot(data)
    return Plan(encoder, (Stage(200, Constant(0.01)),), setting.tau)


def ours(setting: Setting, data: Dataset) -> Plan:
    """The best that was found for each setting."""
    if setting.name not in OURS:
        raise SystemExit(f"name must be one of {', '.join(OURS)} to be trained, got {setting.name}; use --recipe giant")
    return OURS[setting.name](setting, data)


RECIPES: dict[str, PlanOf] = {"paper": paper, "ours": ours}


def encode_images(setting: Setting, data: Dataset) -> Encoder:
    """Equally spaced thresholds."""
    assert data.shape is not None
    assert setting.n_thresholds is not None
    return Encoder.images(data.shape, setting.n_thresholds)


def one_hot(data: Dataset) -> Encoder:
    """A bit for every category; Adult's numbers by the limits of the paper's bins."""
    assert data.categories is not None
    columns: list[Column] = []
    for i, name in enumerate(data.names):
        if i in data.categories:
            columns.append(Categorical(name, tuple(range(data.categories[i]))))
        else:
            columns.append(Numeric(name, np.array(ADULT_BINS.get(name, ()))))
    return Encoder(tuple(columns), named=True)


def thermometer(data: Dataset) -> Encoder:
    """Quantile thresholds of numbers and of ordinal categories, a bit for each other category."""
    assert data.categories is not None
    return Encoder.fit(data.X, categorical=[i for i in data.categories if i not in data.ordinal])


def image_plan(
    *,
    epochs: tuple[int, int],
    reach: tuple[int, ...],
    margin: int = 0,
    mirror: bool = False,
    tau: float | None = None,
) -> PlanOf:
    """Soft epochs, then hard ones, on all training images, which are shifted and mirrored."""

    def plan(setting: Setting, data: Dataset) -> Plan:
        assert data.shape is not None
        assert setting.n_thresholds is not None
        layout = (data.shape, setting.n_thresholds)
        steps: list[Augment] = [Shift(data.shape, n_thresholds=setting.n_thresholds)]
        steps += [Mirror(*layout)] if mirror else []
        return Plan(
            encode_images(setting, data),
            (Stage(epochs[0], Constant(0.01)), Stage(epochs[1], Cosine(0.005), hard=True)),
            setting.tau if tau is None else tau,
            augment=Chain(*steps),
            held_out=0.0,
            options={"wiring": NearbyWiring(*layout, reach, margin)},
        )

    return plan


def plan_on_bits(
    shape: tuple[int, ...],
    n_thresholds: int,
    *,
    epochs: int,
    learning_rate: float,
    pixels: int,
    mirror: bool,
    shifted: float = 1.0,
    warp: Mapping[str, float] | None = None,
    erase: int = 0,
    **others: Any,
) -> Plan:
    """Images, all of them, trained hard from the first step on; `others` of `Plan`.

    A share of them is `shifted` by `pixels`; they are perhaps warped, mirrored, and blackened in rectangles of at most
    `erase` pixels.
    """
    steps: list[Augment] = [Warp(shape, n_thresholds=n_thresholds, **warp)] if warp else []
    shift = Shift(shape, pixels, n_thresholds)
    steps += [shift if shifted == 1 else Sometimes(shift, shifted)]
    steps += [Mirror(shape, n_thresholds)] if mirror else []
    steps += [Erase(shape, erase, n_thresholds)] if erase else []
    stages = (Stage(epochs, Cosine(learning_rate, warmup=WARMUP)),)
    return Plan(Encoder.images(shape, n_thresholds), stages, augment=Chain(*steps), held_out=0.0, **others)


@dataclass(frozen=True)
class FixedOnBits:
    """Images, shifted and mirrored, by a network with fixed wires that is hard from the first step on.

    Parameters
    ----------
    epochs : int
    tau : float
        Of a layer of 12,000 gates; the root of the width scales it.
    reach : tuple of int or None
        Of `NearbyWiring`; None: the wiring is `ButterflyWiring`.
    n_thresholds : int or None
        None: the paper's.
    """

    epochs: int
    tau: float = 32.0
    reach: tuple[int, ...] | None = None
    temperature: float = 3.0
    learning_rate: float = 0.05
    n_thresholds: int | None = None
    batch_size: int = 128
    pixels: int = 1

    def list_changes(self) -> dict[str, list[Any]]:
        """Other values of each choice that the study varies."""
        return {
            "tau": [20.0, 45.0],
            "reach": [(5,), (5, 8)],
            "temperature": [1.5, 8.0],
            "learning_rate": [0.02, 0.1],
            "n_thresholds": [7, 31],
            "batch_size": [256],
            "pixels": [0, 2],
        }

    def __call__(self, setting: Setting, data: Dataset) -> Plan:
        """How a network of the paper is trained, on all training images."""
        assert data.shape is not None
        n_thresholds = self.n_thresholds or setting.n_thresholds
        assert n_thresholds is not None
        layout = (data.shape, n_thresholds)
        return plan_on_bits(
            *layout,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            pixels=self.pixels,
            mirror=True,
            tau=self.tau * math.sqrt(setting.width / SMALL_WIDTH),
            batch_size=self.batch_size,
            options={
                "wiring": ButterflyWiring(*layout) if self.reach is None else NearbyWiring(*layout, self.reach),
                "sampling": Bitwise(self.temperature),
                "parametrization": Softmax(NO_CONSTANTS, initialization=Residual(RESIDUAL)),
            },
        )


def residual_plan(encode: Callable[[Dataset], Encoder], stages: tuple[Stage, ...], **others: Any) -> PlanOf:
    """A network from nearly pass-through gates, for tables; `others` are parameters of `Plan`."""

    def plan(setting: Setting, data: Dataset) -> Plan:
        options = {"wiring": unique_wiring, "parametrization": Softmax(initialization=Residual())}
        chosen: dict[str, Any] = {"tau": setting.tau, "options": options} | others
        return Plan(encode(data), stages, **chosen)

    return plan


def monk_plan(n_restarts: int, repeats: int) -> PlanOf:
    """Many hard networks, of which the simplest good one is kept."""
    stages = (Stage(100, Cosine(0.1), hard=True),)
    sizes = {"batch_size": 17, "repeats": repeats, "n_restarts": n_restarts, "held_out": 0.0}
    return residual_plan(thermometer, stages, **sizes)


def learned_monk_plan(setting: Setting, data: Dataset) -> Plan:
    """Many small networks whose gates read any bits, of which the simplest good one is kept."""
    return Plan(
        one_hot(data),
        (Stage(60, Cosine(0.1)),),
        setting.tau,
        batch_size=17,
        held_out=0.0,
        repeats=5,
        n_restarts=60,
        exception_gates=1,
        widths=(8, 4, 2),
        options={"candidates": AllInputs(), "sampling": Bitwise(4.0)},
    )


CIFAR_LARGE = FixedOnBits(epochs=40)
OURS: dict[str, PlanOf] = {
    "monk-1": monk_plan(n_restarts=20, repeats=10),
    "monk-2": monk_plan(n_restarts=100, repeats=25),
    "monk-3": learned_monk_plan,
    "adult": residual_plan(thermometer, (Stage(100, Cosine(0.03)), Stage(25, Cosine(0.02), hard=True)), held_out=0.0),
    "breast-cancer": residual_plan(
        one_hot, (Stage(50, Cosine(0.1), hard=True),), tau=20.0, held_out=0.0, n_restarts=20, exception_gates=8
    ),
    "mnist-small": image_plan(epochs=(80, 20), reach=(5, 8), margin=4),
    "mnist": image_plan(epochs=(40, 10), reach=(5, 8), margin=4),
    "cifar-small": image_plan(epochs=(80, 20), reach=(5,), mirror=True, tau=20),
    "cifar-medium": image_plan(epochs=(24, 6), reach=(5,), mirror=True, tau=65),
    "cifar-large": CIFAR_LARGE,
}
