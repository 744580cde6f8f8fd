"""All numbers that pages may name, as "<record>/<name>".

Names of benchmarks are those of their records, and "<record>/machine" is what it was measured on; "paper/NAME" is what
the paper reports, "experiments/RECIPE/NAME" the accuracy of a network that was trained here, "minutes/RECIPE/NAME" how
long that took, "study/NAME/LABEL/X" one point of a study's figure,
"splits/MODEL" the accuracy of a model of Breast Cancer on random splits, "published/DATA/N" that of N gates by others.
"""

from collections.abc import Callable
from functools import cache
from statistics import mean, stdev

from benchmarks import records
from benchmarks.numbers import models, speed
from benchmarks.numbers.text import render_table
from experiments.points.frontier import PUBLISHED
from experiments.report import targets
from experiments.report.records import latest
from experiments.settings import SETTINGS

MISSING = "–"  # what a record that has not been made yet stands for
RENDERERS: dict[str, Callable[[records.Record], dict[str, str]]] = {
    "infer": speed.infer,
    "train": speed.train,
    "bits": speed.bits,
    "convolution": speed.convolution,
    "unrolled": speed.unrolled,
    "loop": speed.loop,
    "curves": speed.curves,
    "locality": speed.locality,
    "locality_accuracy": speed.locality_accuracy,
    "tabular": models.tabular,
    "export_c": models.export_c,
    "wasm": models.wasm,
    "synthesis": models.synthesis,
    "verify": models.verify,
    "report": models.report,
}

JUDGED = ("infer", "train", "bits", "convolution", "unrolled")  # benchmarks of speed that have targets


def value_of(name: str) -> str:
    """What a marker stands for."""
    source, _, rest = name.partition("/")
    if source in RENDERERS:
        found = _render(source)
        if found is None:
            return MISSING
        return _machine(source) if rest == "machine" else found[rest]
    if source == "paper":
        return _from_paper(rest)
    if name == "experiments/table":
        return _networks()
    if name == "targets/missed":
        return _missed_targets()
    if name == "targets/networks":
        return render_table(targets.COLUMNS, targets.list_rows(latest()))
    if name == "targets/frontier":
        return render_table(targets.COLUMNS, targets.list_rows(latest(), targets.FRONTIER_TARGETS))
    if source == "experiments":
        return _accuracy(*rest.split("/"))
    if source == "minutes":
        return _minutes(*rest.split("/"))
    if source == "study":
        return _study_point(*rest.split("/"))
    if source == "splits":
        return _splits(rest)
    if source == "published":
        return _published(*rest.split("/"))
    raise KeyError(f"a marker must name a record, got {name}")


@cache
def _render(source: str) -> dict[str, str] | None:
    path = records.RESULTS / f"{source}.json"
    return RENDERERS[source](records.read(source)) if path.exists() else None


def _machine(source: str) -> str:
    machine = records.read(source)["machine"]
    return f"{machine['cpu']}, {machine['n_cores']} cores"


def _from_paper(name: str) -> str:
    """Percent, as the paper reports it."""
    return f"{SETTINGS[name].accuracy:g}"


def _networks() -> str:
    """The paper's networks, trained here by our recipe and by the paper's authors."""
    found = latest()
    rows = []
    for name, setting in SETTINGS.items():
        if record := found.get((name, "ours")):
            n_seeds, missed = len(record["seeds"]), record["accuracy"]["mean"] < setting.accuracy
            told = f"{_from_paper(name)} %" + ", missed" * missed
            rows.append([name, f"{record['seeds'][0]['gates']:,}", _accuracy("ours", name), f"{n_seeds}", told])
    return render_table(["network", "gates", "accuracy here", "seeds", "the paper's"], rows)


def _missed_targets() -> str:
    """Speeds that benchmarks judge, and that were not reached."""
    sources = [source for source in JUDGED if (records.RESULTS / f"{source}.json").exists()]
    judged = [each for source in sources for each in records.read(source)["targets"]]
    found: dict[tuple[str, str], list[str]] = {}
    for each in judged:
        if each["outcome"] == "miss":
            target = f"{'at most' if each['at_most'] else 'at least'} {each['target']:g}"
            found.setdefault((_without_setting(each["name"]), target), []).append(f"{each['value']:.3g}")
    rows = [[name, " / ".join(values), target] for (name, target), values in found.items()]
    return render_table(["what", "found", "target"], rows)


def _without_setting(name: str) -> str:
    """The name of a target, but for the gates or threads of the network, and for the peer's best setting."""
    size, _, what = name.partition(": ")
    size, _, threads = size.partition(", ")
    return f"{size.partition(' ')[0]}: {what.rpartition(' ')[0] if threads else what}"


def _accuracy(recipe: str, name: str) -> str:
    """Percent: mean and, of several seeds, standard deviation."""
    record = latest()[name, recipe]
    accuracy = f"{record['accuracy']['mean']:.2f}"
    return accuracy + (f" ± {record['accuracy']['std']:.2f} %" if len(record["seeds"]) > 1 else " %")


def _minutes(recipe: str, name: str) -> str:
    """Of training a network, the mean of its seeds."""
    return f"{mean(seed['seconds'] for seed in latest()[name, recipe]['seeds']) / 60:.1f}"


def _published(data: str, n_gates: str) -> str:
    """Percent, the best of learned wirings."""
    found = [each.accuracy for each in PUBLISHED if (each.data, each.n_gates) == (data, int(n_gates))]
    return f"{max(found):.2f} %"


def _splits(name: str) -> str:
    """Percent: mean and standard deviation."""
    [found] = [
        each["accuracies"]
        for each in latest()["breast-cancer", "splits"]["models"]
        if each["model"].replace(" ", "-") == name
    ]
    return f"{mean(found):.2f} ± {stdev(found):.2f} %"


def _study_point(study: str, label: str, size: str) -> str:
    """Percent of images held out: of a number of layers in the study of depth, of gates in the others."""
    size_of = len if study == "depth" else sum
    cases = latest()["mnist", f"study {study}"]["cases"]
    found = [
        case["accuracy"]
        for case in cases
        if case["label"].replace(" ", "-") == label and size_of(case["widths"]) == int(size)
    ]
    return f"{mean(found):.1f} %"
