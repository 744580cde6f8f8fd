"""Tables in files: raw columns as users have them, and which rows are trained on and tested."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold

ADULT = """
    age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain
    capital-loss hours-per-week native-country income
"""
BREAST_CANCER = "class age menopause tumor-size inv-nodes node-caps deg-malig breast breast-quad irradiat"
HOUSING = """
    longitude latitude housing_median_age total_rooms total_bedrooms population households median_income
    median_house_value
"""
N_FOLDS, SEED = 5, 0
ONE_FOLD_ROWS = 10_000  # from this size on one fold is tested: a fifth of so many rows says enough


@dataclass(frozen=True)
class Table:
    """A data set. `official` is the number of leading rows to train on where the publisher split it, else None."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    official: int | None = None
    regression: bool = False

    @property
    def categorical(self) -> list[int]:
        """Positions of the columns that hold strings."""
        return [i for i, name in enumerate(self.X) if not pd.api.types.is_numeric_dtype(self.X[name])]

    def numbers(self) -> np.ndarray:
        """The columns as float64, each string replaced by its number in alphabetic order, NaN where one is missing."""
        table = self.X.copy()
        for i in self.categorical:
            codes, _ = pd.factorize(table.iloc[:, i], sort=True)
            table.isetitem(i, np.where(codes < 0, np.nan, codes))
        return table.to_numpy(np.float64)

    def splits(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows to train on, rows to test: the official ones, or one of five folds after the other."""
        rows = np.arange(len(self.y))
        if self.official is not None:
            yield rows[: self.official], rows[self.official :]
            return
        kind = KFold if self.regression else StratifiedKFold
        folds = kind(N_FOLDS, shuffle=True, random_state=SEED).split(rows, self.y)
        yield from islice(folds, 1 if len(rows) >= ONE_FOLD_ROWS else N_FOLDS)


def adult(data: Path) -> Table:
    """Census income; `?` is a missing value."""
    parts = [
        pd.read_csv(data / "adult" / name, header=None, names=ADULT.split(), skipinitialspace=True, skiprows=skipped)
        for name, skipped in (("adult.data", 0), ("adult.test", 1))
    ]
    table = pd.concat(parts, ignore_index=True).replace("?", None)
    income = table.pop("income").str.rstrip(".")
    return Table("adult", table, income.to_numpy(str), official=len(parts[0]))


def breast_cancer(data: Path) -> Table:
    """Recurrence of breast cancer, Ljubljana; `?` is a missing value."""
    file = data / "breast-cancer" / "breast-cancer.data"
    table = pd.read_csv(file, header=None, names=BREAST_CANCER.split(), dtype=str).replace("?", None)
    return Table("breast-cancer", table, table.pop("class").to_numpy(str))


def monk(data: Path, number: int) -> Table:
    """One of MONK's problems: six attributes of few values."""
    rows = []
    for part in ("train", "test"):
        with open(data / "monks" / f"monks-{number}.{part}") as file:
            rows.append([row[:7] for row in csv.reader(file, delimiter=" ", skipinitialspace=True) if row])
    table = pd.DataFrame(rows[0] + rows[1], columns=["class", *(f"a{i}" for i in range(1, 7))])
    return Table(f"monk-{number}", table, table.pop("class").to_numpy(int), official=len(rows[0]))


def comma_separated(data: Path, name: str, file: str, target: int, dtype: type | None = None) -> Table:
    """A file without a header; `target` is the position of the class."""
    table = pd.read_csv(data / "tabular" / file, header=None, dtype=dtype)
    table.columns = [f"c{i}" for i in range(table.shape[1])]
    return Table(name, table, table.pop(table.columns[target]).to_numpy())


def california(data: Path) -> Table:
    """House values in 100,000 dollars."""
    table = pd.read_csv(data / "tabular" / "cal_housing.data", header=None, names=HOUSING.split())
    return Table("california", table, table.pop("median_house_value").to_numpy() / 1e5, regression=True)


def read_tables(data: Path) -> list[Table]:
    """All that are in files."""
    return [
        adult(data),
        breast_cancer(data),
        *(monk(data, number) for number in (1, 2, 3)),
        comma_separated(data, "magic04", "magic04.data", -1),
        comma_separated(data, "letter", "letter-recognition.data", 0),
        comma_separated(data, "spambase", "spambase.data", -1),
        comma_separated(data, "mushroom", "agaricus-lepiota.data", 0, dtype=str),
        california(data),
    ]
