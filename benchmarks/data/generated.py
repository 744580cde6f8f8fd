"""Tables that scikit-learn ships or that are drawn: small ones, interactions among noise, regressions."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn import datasets

from benchmarks.data.tables import SEED, Table


def shipped() -> Iterator[Table]:
    """Small tables of scikit-learn."""
    loaders = {
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
        "tumors": datasets.load_breast_cancer,
        "digits": datasets.load_digits,
        "diabetes": datasets.load_diabetes,
    }
    for name, load in loaders.items():
        X, y = load(return_X_y=True, as_frame=True)
        yield Table(name, X, y.to_numpy(), regression=name == "diabetes")


def drawn() -> Iterator[Table]:
    """Tables whose rule is known: a twentieth of the labels is wrong, or noise is added to the values."""
    rng = np.random.default_rng(SEED)
    for name, shape in {"product": (12_000, 30), "product and sign": (100_000, 50), "many rows": (900_000, 50)}.items():
        X = rng.normal(size=shape)
        y = X[:, 0] * X[:, 1] > 0
        if name != "product":
            y ^= X[:, 2] > 0.3
        yield make(name, X, y ^ (rng.random(len(y)) < 0.05))
    yield make("spheres", *datasets.make_hastie_10_2(12_000, random_state=SEED))
    shapes = {
        "noise": {"n_samples": 5_000, "n_features": 100, "n_informative": 5, "n_redundant": 0},
        "seven classes": {"n_samples": 20_000, "n_features": 54, "n_informative": 12, "n_classes": 7},
    }
    for name, sizes in shapes.items():
        made = datasets.make_classification(**sizes, n_clusters_per_class=3, flip_y=0.05, random_state=SEED)
        yield make(name, *made)
    sizes = {"n_samples": 16_000, "n_features": 40, "n_informative": 20, "n_classes": 200}
    many = datasets.make_classification(**sizes, n_clusters_per_class=1, flip_y=0.0, random_state=SEED)
    yield make("200 classes", *many)
    yield make("friedman 1", *datasets.make_friedman1(8_000, noise=1.0, random_state=SEED), regression=True)
    yield make("friedman 2", *datasets.make_friedman2(2_000, noise=50.0, random_state=SEED), regression=True)
    yield make("friedman 3", *datasets.make_friedman3(1_000, noise=0.1, random_state=SEED), regression=True)
    linear = datasets.make_regression(400, 20, n_informative=8, noise=40, random_state=SEED)
    yield make("linear", *linear, regression=True)


def make(name: str, X: np.ndarray, y: np.ndarray, *, regression: bool = False) -> Table:
    """A table of columns c0, c1, ..."""
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    return Table(name, frame, y if regression else y.astype(int), regression=regression)
