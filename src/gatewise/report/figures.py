"""Figures of a report for papers, by matplotlib.

In: a report. Out: figures: what the model looks at, and how good it is.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gatewise.notebook import make_figure
from gatewise.report.facts import ClassQuality, LabelQuality, Report, SeveralQuality, ValueQuality

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_COLUMNS = 12
FEW_LABELS = 12
COLOR = "#2757c4"


Panel = Callable[[Report, "Axes"], None]


def plot_report(report: Report) -> "Figure":
    """The importance of columns, and of the answers what confusions and calibration, or residuals, say."""
    panels = [*_rate_columns(report), *_rate_answers(report)]
    if not panels:
        raise ValueError("report must have been given a table to be plotted, got none; call Model.report(X, y)")
    return _draw(report, panels, needed_by="Report.plot")


def plot_importance(report: Report) -> "Figure":
    """The importance of columns, the most important one first."""
    panels = _rate_columns(report)
    if not panels:
        raise ValueError("X must have at least two rows, and the model few columns, got nothing to rate columns by")
    return _draw(report, panels, needed_by="Model.plot_importance")


def plot_quality(report: Report) -> "Figure":
    """Confusions and calibration, or values and residuals, or a bar for each value or label."""
    panels = _rate_answers(report)
    if not panels:
        raise ValueError("X must have rows to rate answers by, got none")
    return _draw(report, panels, needed_by="Model.plot_quality")


def _rate_columns(report: Report) -> list[Panel]:
    return [_plot_importance] if any(column.rise is not None for column in report.columns) else []


def _rate_answers(report: Report) -> list[Panel]:
    quality = report.quality
    if isinstance(quality, ClassQuality):
        return [_plot_confusion, _plot_calibration] if quality.confusion else [_plot_calibration]
    if isinstance(quality, ValueQuality):
        return [_plot_values, _plot_residuals]
    return [] if quality is None else [_plot_several]


def _draw(report: Report, panels: Sequence[Panel], *, needed_by: str) -> "Figure":
    figure = make_figure((4.6 * len(panels), 4.2), needed_by=needed_by)
    for axes, draw in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
        draw(report, axes)
    return figure


def _plot_several(report: Report, axes: "Axes") -> None:
    quality = report.quality
    if isinstance(quality, LabelQuality):
        counts = zip(quality.hits, quality.answered, quality.owners, strict=True)
        bars, title, what = [2 * hits / max(said + own, 1) for hits, said, own in counts], "labels", "F1"
    else:
        assert isinstance(quality, SeveralQuality)
        bars, title, what = [value.r2 or 0.0 for value in quality.values], "values", "R²"
    axes.barh([str(1 + k) for k in range(len(bars))], bars, color=COLOR)
    axes.invert_yaxis()
    axes.set(title=f"{quality.n_rows:,} rows", xlabel=what, ylabel=title)


def _plot_importance(report: Report, axes: "Axes") -> None:
    rises: dict[str, float] = {}
    for column in report.columns:
        rises[column.table_name] = column.rise or 0.0
    first = sorted(rises.items(), key=lambda item: item[1])[-MAX_COLUMNS:]
    axes.barh([f"{name:.30}".replace("$", r"\$") for name, _ in first], [rise for _, rise in first], color=COLOR)
    axes.set(title="importance of columns", xlabel="rise of the loss")


def _plot_confusion(report: Report, axes: "Axes") -> None:
    assert isinstance(report.quality, ClassQuality)
    confusion = np.array(report.quality.confusion)
    shares = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    if len(confusion) <= FEW_LABELS:
        for (row, column), n in np.ndenumerate(confusion):
            color = "white" if shares[row, column] > 0.5 else "black"
            axes.text(column, row, f"{n:,}", ha="center", va="center", color=color, fontsize=8)
        names = [f"{label!s:.16}".replace("$", r"\$") for label in report.model.labels]
        axes.set_xticks(range(len(names)), names)
        axes.set_yticks(range(len(names)), names)
    axes.set(title=f"accuracy {report.quality.accuracy:.4f}", xlabel="answer", ylabel="true class")


def _plot_calibration(report: Report, axes: "Axes") -> None:
    assert isinstance(report.quality, ClassQuality)
    stated, found, _ = zip(*report.quality.calibration, strict=True)
    axes.plot([0, 1], [0, 1], color="gray", linestyle="dashed")
    axes.plot(stated, found, color=COLOR, marker="o")
    axes.set(title="calibration", xlabel="stated probability", ylabel="share that came true", aspect="equal")


def _plot_values(report: Report, axes: "Axes") -> None:
    assert isinstance(report.quality, ValueQuality)
    true, predicted = zip(*report.quality.points, strict=True)
    ends = [min(*true, *predicted), max(*true, *predicted)]
    axes.plot(ends, ends, color="gray", linestyle="dashed")
    axes.scatter(true, predicted, color=COLOR, s=8, alpha=0.4)
    axes.set(title=f"root mean square error {report.quality.rmse:.4g}", xlabel="true", ylabel="predicted")


def _plot_residuals(report: Report, axes: "Axes") -> None:
    assert isinstance(report.quality, ValueQuality)
    axes.stairs(report.quality.counts, report.quality.edges, fill=True, color=COLOR)
    axes.set(title="residuals", xlabel="true minus predicted", ylabel="rows")
