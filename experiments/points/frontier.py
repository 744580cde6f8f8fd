"""The frontier: accuracy against gates on images, with learned wiring that is trained on bits.

In: the name of a point. Out: its network and how it is trained, and what others have published. The study "learned"
varies the settings one at a time, on images held out; those of sizes that it was not run for are taken from others.
"""

from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

from experiments.data import Dataset
from experiments.plans import Plan, plan_on_bits
from gatewise.nn import Bitwise
from gatewise.train import Exchange
from gatewise.wiring import NearbyCandidates

WARPS = ({"degrees": 10.0, "stretch": 0.1}, {"bend": 0.7}, {"degrees": 10.0, "stretch": 0.1, "bend": 0.5})


@dataclass(frozen=True)
class Point:
    """A network of the frontier: its data, its layers, and how it is trained.

    A pin of the first layer has `k` candidates, at most `radius` pixels from its gate, and `exchange` replaces those
    that lose. A share of the images is `shifted` by at most `pixels`; `warp` has arguments of `train.Warp`, and
    `erase` is the largest side of a rectangle that is blackened.
    """

    name: str
    data: str
    widths: tuple[int, ...]
    tau: float
    epochs: int
    n_thresholds: int = 3
    radius: int = 6
    k: int = 32
    temperature: float = 8.0
    learning_rate: float = 0.2
    batch_size: int = 128
    pixels: int = 1
    shifted: float = 1.0
    mirror: bool = False
    warp: Mapping[str, float] | None = None
    erase: int = 0
    label_smoothing: float = 0.0
    exchange: Exchange | None = None

    def plan(self, data: Dataset) -> Plan:
        """How it is trained, on all training images."""
        assert data.shape is not None
        layout = (data.shape, self.n_thresholds)
        return plan_on_bits(
            *layout,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            pixels=self.pixels,
            shifted=self.shifted,
            mirror=self.mirror,
            warp=self.warp,
            erase=self.erase,
            label_smoothing=self.label_smoothing,
            tau=self.tau,
            batch_size=self.batch_size,
            is_synthesized=True,
            exchange=self.exchange,
            options={
                "candidates": NearbyCandidates(*layout, radius=self.radius, k=self.k),
                "sampling": Bitwise(self.temperature),
            },
        )

    def list_changes(self) -> dict[str, list[Any]]:
        """Other values of each choice that the study varies."""
        n_gates, n = sum(self.widths), self.n_thresholds
        quarter = n_gates // 40 * 10  # ten groups must divide a layer
        return {
            "tau": [self.tau / 1.4, self.tau * 1.4],
            "learning_rate": [self.learning_rate / 2, self.learning_rate * 2],
            "temperature": [self.temperature / 2, self.temperature * 2],
            "k": [self.k // 2, self.k * 2],
            "radius": [self.radius - 2, self.radius + 2],
            "pixels": [max(0, self.pixels - 1), self.pixels + 1],
            "n_thresholds": [max(1, n // 2), 2 * n + 1],
            "batch_size": [2 * self.batch_size],
            "exchange": [None, Exchange()],
            "shifted": [0.5, 1.0],
            "mirror": [not self.mirror],
            "warp": [None, *WARPS],
            "erase": [0, 8],
            "label_smoothing": [0.0, 0.1],
            "widths": [(n_gates,), (n_gates // 2,) * 2, (quarter, n_gates - quarter), (n_gates // 30 * 10,) * 3],
        }


_MNIST = Point("mnist-8k", "mnist", (3000, 5000), tau=10.0, epochs=60)
_FASHION = replace(
    _MNIST,
    name="fashion-8k",
    data="fashion-mnist",
    widths=(2000, 6000),
    tau=22.0,
    n_thresholds=7,
    k=64,
    epochs=60,
    pixels=0,
    exchange=Exchange(),
)
_CIFAR = Point(
    "cifar-64k",
    "cifar10",
    (28_000, 36_000),
    tau=60.0,
    epochs=60,
    n_thresholds=7,
    radius=4,
    batch_size=256,
    pixels=2,
    mirror=True,
)
POINTS = {
    point.name: point
    for point in (
        replace(
            _MNIST,
            name="mnist-1k",
            widths=(1000,),
            tau=2.8,
            epochs=150,
            n_thresholds=7,
            radius=10,
            k=256,
            batch_size=256,
            pixels=0,
            exchange=Exchange(every=2),
        ),
        _MNIST,
        replace(_MNIST, name="mnist-16k", widths=(6000, 10_000), tau=14.0, epochs=80),
        _FASHION,
        replace(_FASHION, name="fashion-64k", widths=(16_000, 48_000), tau=60.0, epochs=30, k=32, batch_size=256),
        _CIFAR,
        replace(_CIFAR, name="cifar-256k", widths=(112_000, 144_000), tau=120.0, epochs=40),
    )
}


class Published(NamedTuple):
    """A result of others: accuracy in percent of a network of so many two-input gates, as trained."""

    data: str
    method: str
    n_gates: int
    accuracy: float
    source: str
    note: str = ""


TEST_SELECTED = "chosen on the test set; gates as they run"


PUBLISHED = (
    Published("mnist", "fixed random wiring", 48_000, 97.69, "arXiv:2210.08277"),
    Published("mnist", "fixed random wiring", 384_000, 98.47, "arXiv:2210.08277"),
    Published("mnist", "LILogicNet", 1000, 96.16, "arXiv:2511.12340"),
    Published("mnist", "LILogicNet", 2000, 97.04, "arXiv:2511.12340"),
    Published("mnist", "LILogicNet", 8000, 98.45, "arXiv:2511.12340"),
    Published("mnist", "LILogicNet", 16_000, 98.92, "arXiv:2511.12340"),
    Published("mnist", "LogicTreeNet, convolution", 147_000, 98.46, "arXiv:2411.04732"),
    Published("mnist", "LogicTreeNet, convolution", 566_000, 99.23, "arXiv:2411.04732"),
    Published("mnist", "LogicTreeNet, convolution", 1_270_000, 99.35, "arXiv:2411.04732"),
    Published("mnist", "CompactLogic, convolution", 251_000, 99.38, "arXiv:2602.05830", TEST_SELECTED),
    Published("cifar10", "fixed random wiring", 48_000, 51.27, "arXiv:2210.08277"),
    Published("cifar10", "fixed random wiring", 512_000, 57.39, "arXiv:2210.08277"),
    Published("cifar10", "fixed random wiring", 1_280_000, 60.78, "arXiv:2210.08277"),
    Published("cifar10", "fixed random wiring", 5_120_000, 62.14, "arXiv:2210.08277"),
    Published("cifar10", "LogicTreeNet, convolution", 3_080_000, 71.01, "arXiv:2411.04732"),
    Published("cifar10", "CompactLogic, convolution", 1_080_000, 72.56, "arXiv:2602.05830", TEST_SELECTED),
    Published("cifar10", "LILogicNet", 8000, 55.11, "arXiv:2511.12340"),
    Published("cifar10", "LILogicNet", 64_000, 57.66, "arXiv:2511.12340"),
    Published("cifar10", "LILogicNet", 256_000, 60.98, "arXiv:2511.12340"),
)


class Varied(Protocol):
    """A point that knows other values of each choice that a study varies."""

    def list_changes(self) -> dict[str, list[Any]]:
        """Values by the name of the field."""


P = TypeVar("P", bound=Varied)


def vary(point: P, choices: Iterable[str]) -> Iterator[tuple[str, P]]:
    """The point itself, and others that differ from it in one choice: "k" for all its values, "k=64" for that one."""
    yield "as it is", point
    changes = point.list_changes()
    for choice in choices:
        name, _, single = choice.partition("=")
        for value in [literal_eval(single)] if single else changes[name]:
            if value != getattr(point, name):
                shown = f"{value:.3g}" if isinstance(value, float) else value
                yield f"{name} {shown}", replace(point, **{name: value})  # type: ignore[type-var]
