"""What a report says, as values that do not change; and the same as JSON, and as a page.

In: facts, which `collect` finds. Out: JSON, HTML. Invariant: JSON holds finite numbers only; arrays are base64.
"""

import base64
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gatewise.store.files import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SLOT = "{}<!--facts-->"
"""What stands in the page where the facts go."""

FRAME = "width:100%;height:46rem;border:0"


@dataclass(frozen=True)
class ModelFacts:
    """What a model is.

    Parameters
    ----------
    kind : {"classes", "affine", "logit", "exponential"}
        Of the head; `labels` and `tau` are those of classes, `scale` and `offset` those of a regression.
    n_columns, n_bits, n_gates, n_levels, n_groups, n_outputs, n_bytes, threads : int
    ns_per_bits : float
        Nanoseconds per row from bits to counts, measured here; `ns_per_row` is from the table to answers.
    machine : str
    gates_of_levels : list of lists of 16 ints
        How many gates of each kind each level has.
    """

    kind: str
    labels: tuple[str | int | float | bool, ...]
    tau: float
    scale: tuple[float, ...]
    offset: tuple[float, ...]
    group_size: int
    n_columns: int
    n_bits: int
    n_gates: int
    n_levels: int
    n_groups: int
    n_outputs: int
    n_bytes: int
    threads: int
    ns_per_bits: float
    ns_per_row: float | None
    machine: str
    gates_of_levels: list[list[int]]


@dataclass(frozen=True)
class Histogram:
    """Rows by the value of a column.

    Parameters
    ----------
    edges : list of float
        Of the bins of numbers, one more than there are bins; empty for categories, whose bins are their values.
    counts : list of int
        Rows in each bin.
    means : list of float or None
        Mean answer in each bin, None without rows: the share of the last of two classes, or the predicted value.
    n_other, n_missing : int
        Rows of categories that the model does not know, and rows without a value.
    mean_other, mean_missing : float or None
        Their mean answers.
    """

    edges: list[float]
    counts: list[int]
    means: list[float | None]
    n_other: int
    n_missing: int
    mean_other: float | None
    mean_missing: float | None


@dataclass(frozen=True)
class ColumnFacts:
    """One of the numbers that a model reads from a row, and what it asks about it.

    Parameters
    ----------
    name, table_name : str
        Its own, and that of the column of the table.
    kind : {"number", "category", "time"}
    questions : list of str
        The bits in words.
    thresholds : list of float
        Of numbers and times: a bit says that the value is greater.
    codes : list of float
        Of categories: the number that stands for each; `values` are they in words.
    asks_missing : bool
        Whether a last bit says that the value is missing.
    low, high : float
        Range of the values, or of the thresholds if no rows are known.
    is_whole : bool
        Whether all values are whole numbers.
    anchor : int or None
        Of elapsed time: the day from which seconds are counted.
    rise : float or None
        How much the loss rises when the values are permuted among the rows.
    histogram : Histogram or None
    """

    name: str
    table_name: str
    kind: str
    questions: list[str]
    thresholds: list[float]
    codes: list[float]
    values: list[str]
    asks_missing: bool
    low: float
    high: float
    is_whole: bool
    anchor: int | None
    rise: float | None
    histogram: Histogram | None


@dataclass(frozen=True, eq=False)
class CircuitFacts:
    """The gates, and the distinct wires that are counted: each with its group and how many times it counts."""

    gate: NDArray[np.uint8]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    level: NDArray[np.int32]
    wires: NDArray[np.int32]
    groups: NDArray[np.int32]
    votes: NDArray[np.int32]


@dataclass(frozen=True)
class ClassQuality:
    """How good the answers are that a classifier gives.

    Parameters
    ----------
    n_rows, n_unknown : int
        Rows with a known class, and rows whose class the model does not know, which are left out.
    accuracy, log_loss : float
    confusion : list of lists of int
        Rows by true class, then by predicted class; empty if there are very many classes.
    calibration : list of (mean probability, share that came true, rows)
        Of the last of two classes, or of the predicted class of several.
    cuts : list of (probability, true positives, false positives)
        Of two classes: if the last one is answered from that probability on.
    """

    n_rows: int
    n_unknown: int
    accuracy: float
    log_loss: float
    confusion: list[list[int]]
    calibration: list[tuple[float, float, int]]
    cuts: list[tuple[float, int, int]]


@dataclass(frozen=True)
class ValueQuality:
    """How good the values are that a regression predicts: R² (None if the target is constant), errors, residuals.

    `below` is the share of rows whose true value is not above the predicted one: of a quantile, what it should be.
    `points` are true and predicted values of some rows, `edges` and `counts` the histogram of true minus predicted.
    """

    n_rows: int
    r2: float | None
    rmse: float
    mae: float
    below: float
    points: list[tuple[float, float]]
    edges: list[float]
    counts: list[int]


@dataclass(frozen=True)
class SeveralQuality:
    """How good several values are that a model predicts for each row, one after the other."""

    n_rows: int
    values: tuple[ValueQuality, ...]


@dataclass(frozen=True)
class LabelQuality:
    """How good several yes-or-no labels are, which a model gives by values above 0.

    `exact` is the share of rows all of whose labels are right. Of each label, `hits` are the rows that rightly have it,
    `answered` all that are said to have it, `owners` all that truly have it.
    """

    n_rows: int
    exact: float
    hits: tuple[int, ...]
    answered: tuple[int, ...]
    owners: tuple[int, ...]


Quality = ClassQuality | ValueQuality | SeveralQuality | LabelQuality


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows of the table, as the numbers that the encoder compares; for each column its distinct ones and codes.

    Codes have a byte each, or two if there are more than 256 values.

    `rows` are positions in the table, `truth` is the true class by its position, -1 if unknown, or the true value.
    """

    rows: NDArray[np.int32]
    values: tuple[NDArray[np.float64], ...]
    codes: tuple[NDArray[np.uint8 | np.uint16], ...]
    truth: NDArray[np.float64] | None


@dataclass(frozen=True, repr=False)
class Report:
    """All facts about a model; made by `Model.report`.

    Parameters
    ----------
    title : str
    model : ModelFacts
    columns : tuple of ColumnFacts
    image : (height, width) or None
        If a row is an image of one channel.
    circuit : CircuitFacts or None
        None if it is too large to be carried.
    quality : ClassQuality, ValueQuality, SeveralQuality, LabelQuality or None
    sample : Sample or None
    history : tuple of dict
        Records of training, see `gatewise.train.History.to_json`.
    proofs : tuple of dict
        What was asked of a solver, see `gatewise.verify.Verdict.to_dict`.
    commands : tuple of str
        That made the model and the page.
    left_out : tuple of str
        Sentences about what the page does not show, and why.
    """

    title: str
    model: ModelFacts
    columns: tuple[ColumnFacts, ...]
    image: tuple[int, int] | None
    circuit: CircuitFacts | None
    quality: Quality | None
    sample: Sample | None
    history: tuple[dict[str, Any], ...]
    proofs: tuple[dict[str, Any], ...]
    commands: tuple[str, ...]
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        quality = "none" if self.quality is None else type(self.quality).__name__
        return f"Report({self.title!r}, gates={self.model.n_gates}, columns={self.model.n_columns}, quality={quality})"

    def to_json(self) -> str:
        """All facts as JSON that can stand inside HTML, too: it has none of its special characters."""
        text = json.dumps(_plain(self), allow_nan=False, separators=(",", ":"))
        return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")

    def to_html(self) -> str:
        """The page: one file with everything in it."""
        page = (resources.files("gatewise.report") / "page.html").read_text("utf-8")
        before, after = page.split(SLOT)
        return before + self.to_json() + after

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, by convention one that ends in ``.html``, all or nothing."""
        replace_file(path, self.to_html().encode())

    def plot(self) -> "Figure":
        """What the model looks at and how good it is, as a matplotlib figure; notebooks show it, `savefig` writes it.

        Raises ValueError if the report was made without a table.
        """
        # Imported inside the function, because that module imports this one.
        from gatewise.report.figures import plot_report

        return plot_report(self)

    def _repr_html_(self) -> str:
        """The page in a frame, which notebooks show."""
        from html import escape

        page = escape(self.to_html(), quote=True)
        return f'<iframe title="gatewise report" sandbox="allow-scripts" style="{FRAME}" srcdoc="{page}"></iframe>'


def _plain(value: Any) -> Any:
    """Facts as what JSON has; arrays as their little-endian bytes in base64."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return base64.b64encode(value.astype(value.dtype.newbyteorder("<")).tobytes()).decode()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
