"""The models whose pages are timed, and shown in the gallery, with the rows and what else their pages are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data.mnist import load_mnist
from benchmarks.data.tables import adult
from experiments.data import load_idx_images
from experiments.points.frontier import POINTS
from experiments.training import train_network
from gatewise import LogicClassifier, Model
from gatewise.cli.commands import demo
from gatewise.report import Report

EPOCHS = 6


@dataclass(frozen=True)
class Made:
    """A model, the table of its page, and how it came about."""

    title: str
    model: Model
    X: Any
    y: Any
    history: Sequence[Mapping[str, Any]] = ()

    def report(self) -> Report:
        """Its page."""
        commands = ["python -m benchmarks.report.gallery"]
        return self.model.report(self.X, self.y, title=self.title, history=self.history, commands=commands)


def make_digits() -> Made:
    """The model of `gatewise demo`, and the images that it has not seen."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=demo.SEED, stratify=y)
    encoder, result = demo.train_digits(X_train, y_train)
    return Made("Handwritten digits", result.model(encoder), X_test, y_test, history=result.history.to_json())


def make_adult(data: Path) -> Made:
    """The default model, learned from two thirds of the rows, and all rows."""
    table = adult(data)
    training, _ = next(table.splits())
    model = LogicClassifier(random_state=0).fit(table.X.iloc[training], table.y[training]).model_
    return Made("Adult", model, table.X, table.y)


def make_mnist(data: Path) -> Made:
    """8,000 gates that learned their wires for a few epochs, and the test images."""
    point, images = POINTS["mnist-8k"], load_idx_images(data, "mnist")
    plan = point.plan(images).scaled(EPOCHS)
    model = train_network(point.widths, plan, images, 0, folder=None, report=lambda _: None).model
    return Made("MNIST, 8,000 gates", model, *load_mnist(data, "t10k"))
