"""The data sets, split as the paper's published code splits them.

In: a data folder. Out: a `Dataset`: tables of numbers (categories are numbered) or flat uint8 images; labels 0, 1, …
Adult and Breast Cancer lose their rows with missing values, as in the paper; Breast Cancer is split 3 : 1 by
scikit-learn's `train_test_split` with seed 0, as its code does; everything else comes split.
"""

import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.data.files import check_file
from benchmarks.data.mnist import load_mnist
from benchmarks.data.tables import Table, adult, breast_cancer, monk

Rows = NDArray[np.float32] | NDArray[np.uint8]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Dataset:
    """Rows to train on and rows to test.

    `shape` is that of an image, None for tables. `categories` maps the position of a column of categories to its number
    of categories; the other columns are numbers. Categories of `ordinal` columns are in their natural order.
    """

    X: Rows
    y: Labels
    X_test: Rows
    y_test: Labels
    names: tuple[str, ...] = ()
    categories: dict[int, int] | None = None
    ordinal: tuple[int, ...] = ()
    shape: tuple[int, ...] | None = None

    @property
    def n_classes(self) -> int:
        """Labels are 0..n_classes - 1."""
        return int(self.y.max()) + 1


def load_monk(folder: Path, number: int) -> Dataset:
    """One of MONK's problems."""
    for part in ("train", "test"):
        check_file(folder, f"monks/monks-{number}.{part}")
    return _from_table(monk(folder, number))


def load_adult(folder: Path) -> Dataset:
    """Adult, rows without missing values."""
    for name in ("adult.data", "adult.test"):
        check_file(folder, f"adult/{name}")
    return _from_table(_complete(adult(folder)))


def load_breast_cancer(folder: Path, *, seed: int = 0) -> Dataset:
    """Breast Cancer, rows without missing values, split as the seed says."""
    check_file(folder, "breast-cancer/breast-cancer.data")
    table = _complete(breast_cancer(folder))
    train, test = train_test_split(np.arange(len(table.y)), test_size=0.25, random_state=seed)
    order = np.concatenate([train, test])
    return _from_table(Table(table.name, table.X.iloc[order], table.y[order], official=len(train)))


def load_idx_images(folder: Path, name: str) -> Dataset:
    """MNIST, or Fashion-MNIST, which has the same form."""
    for part in ("train", "t10k"):
        for kind in ("images-idx3", "labels-idx1"):
            check_file(folder, f"{name}/{part}-{kind}-ubyte.gz")
    training, test = (load_mnist(folder, part, name) for part in ("train", "t10k"))
    return Dataset(*training, *test, shape=(1, 28, 28))


def load_cifar(folder: Path) -> Dataset:
    """CIFAR-10."""
    parts = {}
    with tarfile.open(check_file(folder, "cifar10/cifar-10-binary.tar.xz"), "r:xz") as archive:
        for member in archive:
            if member.name.endswith(".bin") and (file := archive.extractfile(member)):
                parts[Path(member.name).stem] = np.frombuffer(file.read(), np.uint8).reshape(-1, 3073)
    train = np.concatenate([parts[f"data_batch_{i}"] for i in range(1, 6)])
    test = parts["test_batch"]
    labels = [rows[:, 0].astype(np.int64) for rows in (train, test)]
    return Dataset(train[:, 1:].copy(), labels[0], test[:, 1:].copy(), labels[1], shape=(3, 32, 32))


LOADERS: dict[str, Callable[[Path], Dataset]] = {
    **{f"monk-{i}": partial(load_monk, number=i) for i in (1, 2, 3)},
    "adult": load_adult,
    "breast-cancer": load_breast_cancer,
    **{name: partial(load_idx_images, name=name) for name in ("mnist", "fashion-mnist")},
    "cifar10": load_cifar,
}


def _complete(table: Table) -> Table:
    """The rows without missing values."""
    kept = table.X.notna().all(axis=1).to_numpy()
    official = None if table.official is None else int(kept[: table.official].sum())
    return Table(table.name, table.X[kept], table.y[kept], official=official)


def _from_table(table: Table) -> Dataset:
    """Its columns as numbers, its labels in alphabetical order, split at `official`."""
    ordinal = tuple(i for i in table.categorical if table.X.iloc[:, i].str.match(r"\d+(-\d+)?$").all())
    for i in ordinal:
        table.X.isetitem(i, table.X.iloc[:, i].str.partition("-")[0].str.zfill(2))  # "5-9" as "05", before "10-14"
    X = table.numbers().astype(np.float32)
    y = pd.factorize(table.y, sort=True)[0].astype(np.int64)
    n, names = table.official, tuple(table.X.columns)
    categories = {i: int(X[:, i].max()) + 1 for i in table.categorical}
    return Dataset(X[:n], y[:n], X[n:], y[n:], names=names, categories=categories, ordinal=ordinal)
