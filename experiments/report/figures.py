"""The figures of `docs/experiments.md`.

In: records. Out: PNG files; a figure without its records is left out.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from experiments.points.convolution import CONVOLUTIONS, RECIPE
from experiments.points.frontier import POINTS, PUBLISHED
from experiments.report.records import Records
from experiments.settings import SETTINGS
from gatewise.gates import NAMES

SIZE = (7.0, 4.2)
STYLES = ("o-", "s-", "^-", "D-", "v-", "o--", "s--", "^--", "D--", "v--", "o:", "s:", "^:")
OURS = "gatewise"
OUR_CONVOLUTIONS = "gatewise, convolution"
OURS_FIXED = "gatewise, fixed wires"
COLORS = {  # of the frontier's methods, drawn one over the other
    "fixed random wiring": "tab:gray",
    "LogicTreeNet, convolution": "tab:green",
    "CompactLogic, convolution": "tab:purple",
    "LILogicNet": "tab:blue",
    OUR_CONVOLUTIONS: "tab:orange",
    OURS_FIXED: "lightcoral",
    OURS: "tab:red",
}
Study = list[dict[str, Any]]


def draw_figures(records: Records, folder: Path) -> list[Path]:
    """Draw all figures whose records are there."""
    makers: dict[str, tuple[tuple[str, str], Callable[[dict[str, Any]], Figure]]] = {
        "gates": (("cifar-small", "paper"), draw_gates),
        "depth": (("mnist", "study depth"), draw_depth),
        "operators": (("mnist", "study operators"), draw_operators),
        "precision": (("mnist", "study precision"), draw_precision),
        "gap": (("mnist-small", "paper"), lambda record: draw_gap(record, records)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    if any(recipe in ("frontier", RECIPE) for _, recipe in records):
        paths.append(folder / "frontier.png")
        draw_frontier(records).savefig(paths[-1], dpi=140)
    for name, (key, draw) in makers.items():
        if key in records:
            paths.append(folder / f"{name}.png")
            draw(records[key]).savefig(paths[-1], dpi=140)
    return paths


def draw_frontier(records: Records) -> Figure:
    """Accuracy against gates as trained: what others published, hollow if it was chosen on the test set, and ours."""
    titles = {"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}
    figure = Figure((12, 4.6), layout="constrained")
    for axes, (data, title) in zip(figure.subplots(1, len(titles), sharex=True), titles.items(), strict=True):
        for method, color in COLORS.items():
            points = sorted(_frontier_points(records, data, method))
            if not points:
                continue
            axes.plot([x for x, _, _ in points], [y for _, y, _ in points], color=color, label=method, linewidth=1)
            for n_gates, accuracy, fill in points:
                size = 8 if method.startswith(OURS) else 5
                axes.plot(n_gates, accuracy, "o", color=color, fillstyle=fill, markersize=size)
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("gates as trained")
        axes.set_title(title)
        _clean(axes)
    figure.axes[0].set_ylabel("accuracy of the circuit on the test set, %")
    drawn = [each for axes in figure.axes for each in zip(*axes.get_legend_handles_labels(), strict=True)]
    handles = {label: handle for handle, label in drawn}  # one for each method, whatever panels it is in
    figure.legend(handles.values(), handles.keys(), frameon=False, loc="outside lower center", ncols=4)
    return figure


def _frontier_points(records: Records, data: str, method: str) -> Iterable[tuple[int, float, str]]:
    """Gates, accuracy, and how the marker is filled."""
    for each in PUBLISHED:
        if (each.data, each.method) == (data, method):
            yield each.n_gates, each.accuracy, "none" if each.note else "full"
    for name, point in POINTS.items():
        if method == OURS and point.data == data and (name, "frontier") in records:
            yield sum(point.widths), records[name, "frontier"]["accuracy"]["mean"], "full"
    for name, setting in SETTINGS.items():
        if method == OURS_FIXED and setting.data == data and (name, "ours") in records:
            yield setting.n_gates, records[name, "ours"]["accuracy"]["mean"], "full"
    for name, convolution in CONVOLUTIONS.items():
        if method == OUR_CONVOLUTIONS and convolution.data == data and (name, RECIPE) in records:
            record = records[name, RECIPE]
            yield record["seeds"][0]["gates"], record["accuracy"]["mean"], "full"


def draw_gates(record: dict[str, Any]) -> Figure:
    """How many gates of each layer are of each kind, in the first seed's network."""
    counts = np.array(record["seeds"][0]["gate_counts"])
    figure = Figure((9, 7), layout="constrained")
    axes = figure.subplots(len(counts), sharex=True)
    for i, (each, layer) in enumerate(zip(axes, counts, strict=True)):
        each.bar(range(16), layer, color="tab:blue")
        each.set_ylabel(f"layer {i + 1}")
        each.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xticks(range(16), NAMES, rotation=45, ha="right")
    figure.suptitle("Gates of a trained network of 4 layers of 12,000 gates, CIFAR-10")
    return figure


def draw_depth(record: dict[str, Any]) -> Figure:
    """Accuracy against the number of layers."""
    return _draw_study(record["cases"], lambda case: len(case["widths"]), "layers of 2,000 gates")


def draw_operators(record: dict[str, Any]) -> Figure:
    """Accuracy against the number of gates, for all choices of operators and relaxations."""
    return _draw_sizes(record["cases"])


def draw_precision(record: dict[str, Any]) -> Figure:
    """Accuracy against the number of gates, in several precisions."""
    return _draw_sizes(record["cases"])


def draw_gap(record: dict[str, Any], records: Records) -> Figure:
    """Soft and hard accuracy while a network is trained, by the paper's recipe and by ours, which holds no rows out."""
    figure, axes = _make_axes("seconds of training", "accuracy on MNIST, %")
    shown = {"paper's recipe, images held out": record, "ours, training images": records.get((record["name"], "ours"))}
    for color, (label, each) in zip(("tab:orange", "tab:blue"), shown.items(), strict=True):
        if each is not None:
            _, seconds, hard, soft = np.array(each["seeds"][0]["curve"]).T
            axes.plot(seconds, soft, "--", color=color, label=f"{label}: network")
            axes.plot(seconds, hard, "-", color=color, label=f"{label}: circuit")
    axes.set_ylim(95, 100)
    axes.legend(frameon=False)
    return figure


def _draw_study(cases: Study, x_of: Callable[[dict[str, Any]], int], x_label: str) -> Figure:
    """A line for each label: the mean of the seeds."""
    figure, axes = _make_axes(x_label, "accuracy on images held out, %")
    lines: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        lines[case["label"]][x_of(case)].append(case["accuracy"])
    for style, (label, points) in zip(STYLES, lines.items(), strict=False):
        axes.plot(list(points), _means(points.values()), style, label=label, markersize=4)
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _draw_sizes(cases: Study) -> Figure:
    """A line for each label over the number of gates."""
    figure = _draw_study(cases, lambda case: sum(case["widths"]), "gates in 4 layers")
    sizes = sorted({sum(case["widths"]) for case in cases})
    figure.axes[0].set_xscale("log", base=2)
    figure.axes[0].set_xticks(sizes, [f"{size:,}" for size in sizes])
    return figure


def _means(values: Iterable[list[float]]) -> list[float]:
    return [float(np.mean(each)) for each in values]


def _make_axes(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    figure = Figure(SIZE, layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    _clean(axes)
    return figure, axes


def _clean(axes: Axes) -> None:
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
