"""What a model asks about each column, and how the rows of a table lie between its questions.

In: an encoder, and the numbers of rows as it compares them. Out: `ColumnFacts`; the shape of images.
"""

import math

import numpy as np
from numpy.typing import NDArray

from gatewise.encode import Categorical, Encoder, Numeric, Timed
from gatewise.encode.columns import Column
from gatewise.report.facts import ColumnFacts, Histogram

N_BINS = 24
FEW_VALUES = 40
TAIL = 0.5
"""Per cent of the rows on either side whose values fall into the outermost bins."""

MIN_PIXELS, MAX_HEIGHTS = 36, 32


def describe_column(column: Column, rise: float | None) -> ColumnFacts:
    """What is asked about one column, without rows.

    Examples
    --------
    >>> facts = describe_column(Numeric("age", [17.5, 37.5]), None)
    >>> facts.kind, facts.questions, facts.low, facts.high
    ('number', ['age > 17.5', 'age > 37.5'], 7.5, 47.5)
    """
    is_category = isinstance(column, Categorical)
    thresholds = [] if isinstance(column, Categorical) else column.thresholds.tolist()
    finite = [each for each in thresholds if math.isfinite(each)] or [0.0]
    margin = (finite[-1] - finite[0]) / 2 or 1.0
    elapsed = isinstance(column, Timed) and column.part == "elapsed"
    values = [str(value) for value in column.values] if isinstance(column, Categorical) else []
    return ColumnFacts(
        name=column.name,
        table_name=column.table_name,
        kind="category" if is_category else "time" if elapsed else "number",
        questions=column.describe(),
        thresholds=thresholds,
        codes=column.tests()[1].tolist()[: len(values)],
        values=values,
        asks_missing=column.missing,
        low=finite[0] - margin,
        high=finite[-1] + margin,
        is_whole=False,
        anchor=column.anchor if isinstance(column, Timed) and elapsed else None,
        rise=rise,
        histogram=None,
    )


def count_values(
    facts: ColumnFacts, numbers: NDArray[np.float64], answers: NDArray[np.float64] | None
) -> tuple[Histogram, float, float, bool]:
    """How the rows are spread over the values of a column.

    Parameters
    ----------
    facts : ColumnFacts
    numbers : float64 array, shape (n_rows,)
        As `Encoder.to_numbers` gives them.
    answers : float64 array, shape (n_rows,), optional
        Whose mean in each bin is wanted.

    Returns
    -------
    Histogram, least and greatest finite value, whether all values are whole

    Examples
    --------
    >>> facts = describe_column(Numeric("age", [1.5]), None)
    >>> histogram, *others = count_values(facts, np.array([1.0, 2.0, 2.0, np.nan]), None)
    >>> histogram.edges, histogram.counts, histogram.n_missing, others
    ([0.5, 1.5, 2.5], [1, 2], 1, [1.0, 2.0, True])
    """
    is_missing = np.isnan(numbers)
    if facts.kind == "category":
        place, n_bins, edges = _place_categories(facts, numbers), len(facts.codes), []
        low, high, is_whole = facts.low, facts.high, False
    else:
        finite = np.isfinite(numbers)
        known = numbers[finite]
        low, high = (float(known.min()), float(known.max())) if len(known) else (facts.low, facts.high)
        is_whole = bool(len(known)) and bool((known == np.floor(known)).all())
        edges = _find_edges(known, low, high)
        n_bins = len(edges) - 1
        inner = np.searchsorted(edges, numbers, side="right") - 1
        place = np.where(is_missing, -1, np.clip(inner, 0, n_bins - 1))
    in_bins = place >= 0
    counts = np.bincount(place[in_bins], minlength=n_bins)
    means: list[float | None] = []
    if answers is not None:
        sums = np.bincount(place[in_bins], answers[in_bins], n_bins)
        means = [_divide(*each) for each in zip(sums.tolist(), counts.tolist(), strict=True)]
    is_other = ~is_missing & ~in_bins
    mean_other, mean_missing = (
        None if answers is None else _divide(float(answers[rows].sum()), int(rows.sum()))
        for rows in (is_other, is_missing)
    )
    n_other, n_missing = int(is_other.sum()), int(is_missing.sum())
    histogram = Histogram(edges, counts.tolist(), means, n_other, n_missing, mean_other, mean_missing)
    return histogram, low, high, is_whole


def _divide(total: float, n: int) -> float | None:
    """A mean as it is drawn: four digits are enough."""
    return float(f"{total / n:.4g}") if n else None


def find_image(encoder: Encoder) -> tuple[int, int] | None:
    """Height and width, if a row looks like a square image: numbers without names, cut at the same few heights.

    Examples
    --------
    >>> find_image(Encoder.images((8, 8), 3))
    (8, 8)
    >>> find_image(Encoder.fit([[0.5], [1.5]])) is None
    True
    """
    side = math.isqrt(encoder.n_columns)
    numeric = [column for column in encoder.columns if type(column) is Numeric and not column.missing]
    if encoder.named or side * side != encoder.n_columns or side**2 < MIN_PIXELS or len(numeric) != encoder.n_columns:
        return None
    heights = {threshold for column in numeric for threshold in column.thresholds.tolist()}
    return (side, side) if 0 < len(heights) <= MAX_HEIGHTS else None


def _place_categories(facts: ColumnFacts, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    codes = np.array(facts.codes)
    order = np.argsort(codes)
    near = np.minimum(np.searchsorted(codes[order], numbers), len(codes) - 1)
    if not len(codes):
        return np.full(len(numbers), -1)
    return np.where(codes[order][near] == numbers, order[near], -1)


def _find_edges(known: NDArray[np.float64], low: float, high: float) -> list[float]:
    """Bins of numbers: around each value if there are few, otherwise of equal width where nearly all rows are."""
    distinct = np.unique(known)
    if 1 < len(distinct) <= FEW_VALUES:
        half = np.diff(distinct).min() / 2
        if (distinct[-1] - distinct[0]) / (2 * half) <= FEW_VALUES:
            n = round(float((distinct[-1] - distinct[0]) / (2 * half))) + 1
            edges: list[float] = (distinct[0] - half + 2 * half * np.arange(n + 1)).tolist()
            return edges
    if len(distinct) > 1:
        inner_low, inner_high = np.percentile(known, [TAIL, 100 - TAIL]).tolist()
        if inner_low < inner_high:
            low, high = inner_low, inner_high
    equal: list[float] = np.linspace(low, high if high > low else low + 1.0, N_BINS + 1).tolist()
    return equal
