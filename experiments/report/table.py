"""The paper's tables with our numbers beside its own.

In: the latest records. Out: the text of `RESULTS.md`.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.numbers.text import number, render_table
from experiments.plans import RECIPES
from experiments.points import lut
from experiments.points.convolution import CONVOLUTIONS, RECIPE
from experiments.points.frontier import POINTS, PUBLISHED
from experiments.report.records import Record, Records
from experiments.settings import BASELINES, SETTINGS, Setting

TITLES = {
    "MONK's problems": ("monk-1", "monk-2", "monk-3"),
    "Adult and Breast Cancer": ("adult", "breast-cancer"),
    "MNIST": ("mnist-small", "mnist"),
    "CIFAR-10": ("cifar-small", "cifar-medium", "cifar-large"),
}
NETWORK_COLUMNS = ["network", "run", "Acc. %", "soft %", "# Param.", "OPs", "Space", "T. [CPU]", "training"]
BASELINE_COLUMNS = ["network", "model", "the paper's %", "here %", "the paper's # Param.", "here"]
FRONTIER_COLUMNS = ["data", "method", "gates", "OPs", "LUT-6", "Acc. %", "T. [CPU]", "training", "source"]
LUT_COLUMNS = ["data", "method", "tables", "LUT-6", "OPs", "Acc. %", "T. [CPU]", "training", "source"]
GIANT_COLUMNS = ["network", "# Param.", "OPs", "Space, bytes", "T. [CPU], µs", "seconds to", "memory"]

INTRODUCTION = """\
# Results

Made by `python -m benchmarks.numbers --write` from `results.jsonl`, where every number has its seeds, command and
machine. Columns are those of the paper's tables, its numbers above ours. Acc. is that of the discretized circuit on the
test set, mean ± standard deviation of all seeds that were run; "soft" that of the network it comes from. # Param. are
gates as trained, OPs those left after simplifying. Space is the model file in bytes, encoder and head included; the
paper counts 4 bits per gate. T. [CPU] is nanoseconds per row on one thread, from packed bits / from raw rows; the
paper's thread ran at 2.5 GHz. Training is one run on the CPU named below, at times beside others; the paper's is on a
GPU.
"""


def render(records: Records) -> str:
    """All tables for which there are records."""
    parts = [INTRODUCTION]
    for title, names in TITLES.items():
        rows = [row for name in names for row in _network_rows(SETTINGS[name], records)]
        parts.append(f"## {title}\n\n{render_table(NETWORK_COLUMNS, rows)}\n")
    if any(recipe in ("frontier", RECIPE) for _, recipe in records):
        parts.append(f"## Learned wiring\n\n{render_table(FRONTIER_COLUMNS, _frontier_rows(records))}\n")
    if any(recipe == "lut" for _, recipe in records):
        parts.append(f"## Tables of six inputs\n\n{render_table(LUT_COLUMNS, _lut_rows(records))}\n")
    parts.append(f"## Baselines\n\n{render_table(BASELINE_COLUMNS, _baseline_rows(records))}\n")
    if record := records.get(("breast-cancer", "splits")):
        n_splits = len(record["models"][0]["accuracies"])
        title = f"## Breast Cancer, {n_splits} random splits 3 : 1"
        parts.append(f"{title}\n\n{render_table(['model', 'Acc. %', 'each split'], _split_rows(record))}\n")
    parts.append(f"## Networks with random gates\n\n{render_table(GIANT_COLUMNS, _giant_rows(records))}\n")
    machines = sorted({record["machine"]["cpu"] for record in records.values()})
    commands = [f"    {record['command']}" for record in records.values()]
    parts.append("## Commands\n\n" + "\n".join(commands) + f"\n\nRun on {', '.join(machines)}.\n")
    return "\n".join(parts)


def _network_rows(setting: Setting, records: Records) -> Iterable[Sequence[str]]:
    accuracy = _plus_minus(setting.accuracy, setting.std)
    ns = "-" if setting.ns is None else number(setting.ns)
    hours = "-" if setting.hours is None else f"{setting.hours} h"
    n_bytes = f"{setting.n_bytes:,.0f}"
    yield setting.name, "the paper", accuracy, "", f"{setting.n_gates:,}", "", n_bytes, ns, hours
    for recipe in ("paper", "ours"):
        if record := records.get((setting.name, recipe)):
            yield "", _describe_recipe(record), *_describe_seeds(record)


def _describe_recipe(record: Record) -> str:
    name = {"paper": "its recipe", "ours": "ours"}[record["recipe"]]
    n, epochs = len(record["seeds"]), record["seeds"][0]["epochs"]
    return f"{name}, {n} seed{'s' * (n > 1)}, {epochs} epochs"


def _describe_seeds(record: Record) -> Iterable[str]:
    def mean(key: str) -> float:
        return sum(seed[key] for seed in record["seeds"]) / len(record["seeds"])

    accuracy, time = record["accuracy"], record["time"]
    n_seeds = len(record["seeds"])
    yield f"**{_plus_minus(accuracy['mean'], accuracy['std'] if n_seeds > 1 else None)}**"
    yield "" if record["seeds"][0]["soft_accuracy"] is None else f"{mean('soft_accuracy'):.2f}"
    yield from (f"{mean(key):,.0f}" for key in ("gates", "gates_simplified", "bytes"))
    yield f"{number(time['packed_ns'])} / {number(time['raw_ns'])}"
    yield _describe_seconds(mean("seconds"))


def _frontier_rows(records: Records) -> Iterable[Sequence[str]]:
    """Ours and what others published, by data set and size."""
    rows: list[tuple[str, int, tuple[str, ...]]] = [
        (each.data, each.n_gates, (each.method, "", "", f"{each.accuracy:.2f}", "", "", _join(each.source, each.note)))
        for each in PUBLISHED
    ]
    for name, point in POINTS.items():
        if record := records.get((name, "frontier")):
            accuracy, simplified, tables, ns, seconds, source = _describe_point(record)
            rows.append((point.data, sum(point.widths), ("ours", simplified, tables, accuracy, ns, seconds, source)))
    for name, convolution in CONVOLUTIONS.items():
        if record := records.get((name, RECIPE)):
            n_gates = record["seeds"][0]["gates"]
            accuracy, simplified, tables, ns, seconds, source = _describe_point(record)
            described = ("ours, convolution", simplified, tables, accuracy, ns, seconds, source)
            rows.append((convolution.data, n_gates, described))
    for data, n_gates, (method, *others) in sorted(rows, key=lambda row: row[:2]):
        yield data, method, f"{n_gates:,}", *others


def _lut_rows(records: Records) -> Iterable[Sequence[str]]:
    """Tables as trained, and as many as synthesis makes of their gates; and what others published."""
    rows = [
        (each.data, each.n_gates, (each.method, "", "", f"{each.accuracy:.2f}", "", "", _join(each.source, each.note)))
        for each in lut.PUBLISHED
    ]
    for name, point in lut.POINTS.items():
        if record := records.get((name, "lut")):
            accuracy, simplified, tables, ns, seconds, source = _describe_point(record)
            rows.append((point.data, sum(point.widths), ("ours", tables, simplified, accuracy, ns, seconds, source)))
    for data, n_tables, (method, *others) in sorted(rows, key=lambda row: row[:2]):
        yield data, method, f"{n_tables:,}", *others


def _describe_point(record: Record) -> tuple[str, str, str, str, str, str]:
    """Accuracy, gates, tables if they were counted, times, and how it was trained."""
    accuracy, _, _, simplified, _, ns, seconds = _describe_seeds(record)
    n, epochs = len(record["seeds"]), record["seeds"][0]["epochs"]
    counts = [seed["tables"] for seed in record["seeds"]]
    tables = "" if None in counts else f"{sum(counts) / n:,.0f}"
    return accuracy, simplified, tables, ns, seconds, f"{n} seed{'s' * (n > 1)}, {epochs} epochs"


def _baseline_rows(records: Records) -> Iterable[Sequence[str]]:
    for (name, recipe), record in records.items():
        for each in record["baselines"] if recipe == "baselines" else ():
            accuracy, n_parameters = BASELINES.get((name, each["model"]), (None, None))
            n_runs = len(each["accuracies"])
            epochs = f", {record['epochs']} epochs" if each["model"] == "neural network" else ""
            found = f"{np.mean(each['accuracies']):.2f} ({n_runs} run{'s' * (n_runs > 1)}{epochs})"
            told = ("-", "-") if accuracy is None else (f"{accuracy:.2f}", f"{n_parameters:,}")
            yield name, each["model"], told[0], found, told[1], f"{each['parameters']:,}"


def _split_rows(record: Record) -> Iterable[Sequence[str]]:
    for each in record["models"]:
        scores = each["accuracies"]
        name = f"logic network, {each['model']}" if each["model"] in RECIPES else each["model"]
        yield name, _plus_minus(np.mean(scores), np.std(scores, ddof=1)), " ".join(f"{score:.1f}" for score in scores)


def _giant_rows(records: Records) -> Iterable[Sequence[str]]:
    for (name, recipe), record in records.items():
        if recipe == "giant":
            sizes = f"{record['bytes_seeded']:,} seeded, {record['bytes_simplified']:,} simplified"
            steps = ", ".join(f"{step} {seconds:.2f}" for step, seconds in record["seconds_of"].items())
            gates = (f"{record[key]:,}" for key in ("gates", "gates_simplified"))
            yield name, *gates, sizes, number(record["time"]["packed_ns"] / 1e3), steps, _memory(record)


def _join(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _memory(record: Record) -> str:
    return f"{record['peak_memory_gb']:.2f} GB"


def _plus_minus(mean: float, std: float | None) -> str:
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"


def _describe_seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
