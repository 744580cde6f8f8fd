"""The experiments, on small made-up images: files, wiring, training that resumes, records, table and figures."""

import dataclasses
import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("sklearn", "pip install -c constraints.txt scikit-learn")
require_module("matplotlib", "pip install -c constraints.txt matplotlib")

import torch

from benchmarks.data import files
from experiments import measuring, plans, splits, studies, training
from experiments.data import Dataset
from experiments.points import frontier, lut
from experiments.points.convolution import CONVOLUTIONS, RECIPE
from experiments.report import records, table, targets
from experiments.report.figures import draw_figures, draw_frontier
from experiments.settings import SETTINGS, Setting
from gatewise import nn
from gatewise.train import Cosine
from gatewise.wiring import ConvolutionalCircuit, LearnedWiring

# Two epochs do not always teach a network of a hundred gates anything.
pytestmark = pytest.mark.filterwarnings("ignore::gatewise.train.ConvergenceWarning")

SETTING = Setting("tiny", "tiny", 3, 120, 2.0, 2, 90.0, None, 10.0, 60, None)


def silent(line: str) -> None:
    """Reports nothing."""


@pytest.fixture(scope="module")
def data() -> Dataset:
    """Bright spots: the class says in which third of the image they are."""
    random = np.random.default_rng(0)
    y = np.arange(300) % 3
    images = random.integers(0, 120, (300, 1, 9, 9), dtype=np.uint8)
    for i, label in enumerate(y):
        images[i, 0, random.integers(0, 9), 3 * label : 3 * label + 3] = 255
    X = images.reshape(300, -1)
    return Dataset(X[:200], y[:200], X[200:], y[200:], shape=(1, 9, 9))


def make_plan(data: Dataset, epochs: tuple[int, int] = (12, 4)) -> plans.Plan:
    return plans.image_plan(epochs=epochs, reach=(3,))(SETTING, data)


def test_settings_are_the_papers() -> None:
    sizes = {name: setting.n_gates for name, setting in SETTINGS.items()}
    assert sizes["mnist-small"] == sizes["cifar-small"] == 48_000
    assert (sizes["monk-1"], sizes["adult"], sizes["cifar-large-4"]) == (144, 1280, 5_120_000)
    assert SETTINGS["adult"].tau == pytest.approx(13.333, abs=1e-3)
    assert SETTINGS["cifar-large"].ns is None
    assert set(plans.OURS) == {name for name in SETTINGS if not name.startswith("cifar-large-")}


def test_data_files_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "monks/monks-1.train"
    with pytest.raises(SystemExit, match=r"data must have monks/monks-1.train.*UCI"):
        files.check_file(tmp_path, name)
    path = tmp_path / name
    path.parent.mkdir()
    path.write_bytes(b"no data")
    with pytest.raises(SystemExit, match=r"must have sha256 d9c3.*UCI"):
        files.check_file(tmp_path, name)
    monkeypatch.setitem(files.SHA256, name, hashlib.sha256(b"no data").hexdigest())
    assert files.check_file(tmp_path, name) == path


def test_a_network_is_trained_measured_and_resumed(data: Dataset, tmp_path: Path) -> None:
    plan, lines = dataclasses.replace(make_plan(data, (40, 10)), batch_size=10), []
    trained = training.train_network(SETTING.widths, plan, data, 0, folder=tmp_path / "run", report=lines.append)
    assert len(lines) == len(trained.curve) == 50
    measured = measuring.measure_seed(trained, plan, data, 0)
    assert measured["accuracy"] > 60
    assert measured["gates"] == SETTING.n_gates > measured["gates_simplified"]
    assert measured["gap"] == measured["soft_accuracy"] - measured["accuracy"]
    again = training.train_network(SETTING.widths, plan, data, 0, folder=tmp_path / "run", report=lines.append)
    assert len(lines) == 50  # nothing was trained
    assert again.model == trained.model
    fresh = training.train_network(SETTING.widths, plan, data, 0, folder=None, report=silent)
    assert fresh.model == trained.model


def test_the_shortest_of_several_networks_is_kept(data: Dataset) -> None:
    plan = dataclasses.replace(make_plan(data, (2, 1)), n_restarts=3, repeats=2)
    single = dataclasses.replace(plan, n_restarts=1)
    kept = training.train_network(SETTING.widths, plan, data, 0, folder=None, report=silent)
    tried = [training.train_network(SETTING.widths, single, data, i, folder=None, report=silent) for i in range(3)]

    def length(trained: training.Trained) -> int:
        n_wrong = int((trained.model.predict(data.X) != data.y).sum())
        return trained.model.circuit.n_gates + plan.exception_gates * n_wrong

    assert length(kept) == min(map(length, tried))


def test_a_point_of_the_frontier_is_trained_validated_and_shown(data: Dataset, tmp_path: Path) -> None:
    point = frontier.Point("mnist-1k", "tiny", (60, 60), tau=2.0, epochs=30, n_thresholds=2, radius=2, k=8)
    plan = dataclasses.replace(point.plan(data), batch_size=20)
    trained = training.train_network(point.widths, plan, data, 0, folder=None, report=silent)
    assert trained.model.origin is not None
    assert isinstance(trained.model.origin[1].wiring, LearnedWiring)
    measured = measuring.measure_seed(trained, plan, data, 0)
    assert measured["accuracy"] > 60
    assert measured["gap"] == 0
    validated = training.validate("as it is", point.widths, point.plan(data), data, seed=0, epochs=2)
    assert validated["epochs"] == 2
    choices = point.list_changes()
    labels = [label for label, _ in frontier.vary(point, choices)]
    assert len(set(labels)) == len(labels) > 10
    assert [label for label, _ in frontier.vary(point, ["tau"])] == ["as it is", "tau 1.43", "tau 2.8"]
    single = dict(frontier.vary(point, ["widths=(40, 80)", "warp={'bend': 1.5}"]))
    assert [each.widths for each in single.values()] == [(60, 60), (40, 80), (60, 60)]
    assert "bend=1.5" in repr(single["warp {'bend': 1.5}"].plan(data).augment)
    for every in [*frontier.POINTS.values(), *lut.POINTS.values()]:
        varied = [each for _, each in frontier.vary(every, choices)]
        assert all(each.pixels >= 0 and each.n_thresholds >= 1 and each.widths[-1] % 10 == 0 for each in varied)
    common = {"accuracy": measuring.summarize([90.0, 92.0]), "seeds": [measured] * 2}
    run = {"command": "python -m experiments frontier", "machine": {"cpu": "one of ours"}}
    time = {"time": {"packed_ns": 95.4, "raw_ns": 1234.0}}
    text = table.render({("mnist-1k", "frontier"): {"recipe": "frontier"} | common | run | time})
    assert "| mnist | LILogicNet | 1,000 |  |  | 96.16 |" in text
    assert f"| mnist | ours | 1,000 | {measured['gates_simplified']:,} | {measured['tables']:,} |" in text
    assert 0 < measured["tables"] < measured["gates"]
    [path] = draw_figures({("mnist-1k", "frontier"): common}, tmp_path)
    assert path.name == "frontier.png"


def test_a_network_of_convolutions_is_trained_and_shown(data: Dataset, tmp_path: Path) -> None:
    small = {"make": make_tiny_convolution, "k": 12, "tau": 3.0, "epochs": 12, "learning_rate": 0.2}
    point = dataclasses.replace(CONVOLUTIONS["mnist-tree-s"], **small)
    plan = dataclasses.replace(point.plan(data), batch_size=20)
    folder, lines = tmp_path / "run", []
    trained = training.train_network((), plan, data, 0, folder=folder, report=lines.append)
    assert isinstance(trained.model.origin[1], ConvolutionalCircuit)
    measured = measuring.measure_seed(trained, plan, data, 0)
    assert measured["accuracy"] > 50
    assert measured["gap"] == 0
    assert measured["tables"] is None
    assert training.train_network((), plan, data, 0, folder=folder, report=lines.append).model == trained.model
    assert len(lines) == 12
    record = {"recipe": RECIPE, "accuracy": measuring.summarize([90.0]), "seeds": [measured]}
    record |= {"time": {"packed_ns": 95.4, "raw_ns": 1234.0}, "command": "", "machine": {"cpu": ""}}
    text = table.render({("mnist-tree-s", RECIPE): record})
    assert f"| mnist | ours, convolution | {measured['gates']:,} | {measured['gates_simplified']:,} |  |" in text
    [path] = draw_figures({("mnist-tree-s", RECIPE): record}, tmp_path)
    assert path.name == "frontier.png"


def test_the_frontier_shows_fixed_wires_apart() -> None:
    figure = draw_frontier({("cifar-large", "ours"): {"accuracy": {"mean": 63.0}}})
    lines = {line.get_label(): line.get_xydata() for axes in figure.axes for line in axes.get_lines()}
    assert lines["gatewise, fixed wires"].tolist() == [[1_280_000, 63.0]]
    assert "gatewise" not in lines


def test_points_are_networks_of_their_data() -> None:
    sides = {"mnist": (1, 28, 28), "fashion-mnist": (1, 28, 28), "cifar10": (3, 32, 32)}
    for point in CONVOLUTIONS.values():
        small = dataclasses.replace(point, k=2)
        rows = torch.zeros(2, math.prod(sides[point.data]) * point.n_thresholds)
        assert small.build(0)(rows).shape == (2, 10)
        labels = [label for label, _ in frontier.vary(point, point.list_changes())]
        assert len(set(labels)) == len(labels) > 10


def test_a_study_of_convolutions_builds_what_it_varies() -> None:
    point = dataclasses.replace(CONVOLUTIONS["mnist-tree-s"], k=2)
    varied = dict(frontier.vary(point, ["taps", "residual"]))
    kinds = [type(each.build(0)[1]).__name__ for each in varied.values()]
    assert kinds == ["LogicConv2d", "LogicConv2d", "LearnedConv2d", "LogicConv2d", "LogicConv2d"]
    assert varied["residual 1"].residual == 1.0


def test_targets_are_judged_by_their_most_accurate_point() -> None:
    points = [name for target in targets.TARGETS for name in target.names]
    assert set(points) <= set(CONVOLUTIONS) | set(lut.POINTS)
    assert [row[-1] for row in targets.list_rows({})] == ["open"] * len(targets.TARGETS)

    def make(name: str, accuracy: float) -> dict[str, Any]:
        seeds = [{"tables": 540}, {"tables": 620}]
        return {"name": name, "accuracy": {"mean": accuracy}, "time": {"packed_ns": 10 * accuracy}, "seeds": seeds}

    found = {("cifar-tree-400k", RECIPE): make("", 61.0), ("cifar-learned-s", RECIPE): make("", 60.0)}
    found[("mnist-lut-500", "lut")] = make("mnist-lut-500", 97.2)
    wires = {("mnist-8k", "frontier"): make("mnist-8k", 98.45), ("mnist-16k", "frontier"): make("mnist-16k", 98.8)}
    judged = {row[0]: row[-1] for row in targets.list_rows(wires, targets.FRONTIER_TARGETS)}
    assert [judged.pop(f"MNIST, {n_gates} gates") for n_gates in ("8,000", "16,000")] == ["met", "missed"]
    assert set(judged.values()) == {"open"}
    rows = {row[0]: tuple(row[1:]) for row in targets.list_rows(found)}
    assert rows["CIFAR-10, convolution, at most 400,000 gates"] == ("at least 60.4 %", "61.00 %, 2 seeds", "met")
    assert rows["the same, time per image"] == ("at most 6,000 ns", "610 ns, 2 seeds", "met")
    assert rows["MNIST, 500 tables of six inputs"] == ("at least 97.5 %", "97.20 %, 2 seeds", "missed")
    assert rows["the same after synthesis, over 500"] == ("at most 1.2", "1.24, 2 seeds", "missed")


def test_points_have_the_gates_that_their_targets_allow() -> None:
    for name, limit in (("mnist-learned-150k", 150_000), ("cifar-learned-400k", 400_000)):
        shared = nn.discretize_shared(CONVOLUTIONS[name].build(0))
        assert limit / 4 < shared.n_gates <= limit


def make_tiny_convolution(*, k: int, **options: Any) -> torch.nn.Module:
    """Three classes."""
    stages = [nn.ConvolutionStage(k, padding=0)]
    return nn.convolutional_network((1, 9, 9), 3, stages=stages, widths=[90], **options)


def test_a_point_of_tables_is_trained_resumed_and_shown(data: Dataset, tmp_path: Path) -> None:
    point = lut.TablePoint("mnist-lut-500", "tiny", (30,), tau=2.0, epochs=30, n_thresholds=2, radius=2, k=8)
    plan, lines = dataclasses.replace(point.plan(data), batch_size=20), []
    trained = training.train_network(point.widths, plan, data, 0, folder=tmp_path / "run", report=lines.append)
    assert trained.model.origin is None
    again = training.train_network(point.widths, plan, data, 0, folder=tmp_path / "run", report=lines.append)
    assert len(lines) == len(trained.curve)
    assert again.circuit == trained.circuit
    measured = measuring.measure_seed(trained, plan, data, 0)
    assert measured["accuracy"] > 60
    assert measured["gap"] == 0
    assert 0 < measured["tables"] <= 1.2 * 30
    assert training.validate("as it is", point.widths, plan, data, seed=0, epochs=2)["widths"] == [30]
    record = {"recipe": "lut", "accuracy": measuring.summarize([90.0]), "seeds": [measured], "command": "it"}
    others = {"machine": {"cpu": "one of ours"}, "time": {"packed_ns": 95.4, "raw_ns": 1234.0}}
    text = table.render({("mnist-lut-500", "lut"): record | others})
    assert f"| mnist | ours | 500 | {measured['tables']:,} | {measured['gates_simplified']:,} | **90.00** |" in text
    assert "| mnist | DWN | 2,000 |  |  | 98.29 |" in text


def test_plans_are_scaled_to_epochs(data: Dataset) -> None:
    stages = make_plan(data).scaled(4).stages
    assert [stage.epochs for stage in stages] == [3, 1]
    assert stages[1].hard
    assert isinstance(stages[1].schedule, Cosine)


def test_table_and_figures_from_records(data: Dataset, tmp_path: Path) -> None:
    plan = make_plan(data, (2, 1))
    trained = training.train_network(SETTING.widths, plan, data, 0, folder=None, report=silent)
    measured = measuring.measure_seed(trained, plan, data, 0)
    common = {"accuracy": measuring.summarize([90.0, 92.0]), "seeds": [measured] * 2}
    path = tmp_path / "results.jsonl"
    run = {"command": "python -m experiments mnist-small --seeds 2", "machine": {"cpu": "one of ours"}}
    for name in ("mnist-small", "cifar-small"):
        time = {"packed_ns": 95.4, "raw_ns": 1234.0}
        records.append({"name": name, "recipe": "paper", "time": time} | common | run, path)
    case = studies.run_case(studies.Case("all", [30, 30]), data_with_ten_classes(), seed=0, epochs=1)
    records.append({"name": "mnist", "recipe": "study depth", "cases": [case]} | run, path)
    baseline = {"model": "decision tree", "accuracies": [80.0], "parameters": 9}
    records.append({"name": "monk-1", "recipe": "baselines", "baselines": [baseline]} | run, path)
    found = records.latest(path)
    text = table.render(found)
    assert "**91.00 ± 1.41**" in text
    assert "95 / 1,234" in text
    assert "97.69 ± 0.11" in text
    assert "    python -m experiments mnist-small --seeds 2\n" in text
    assert "Run on one of ours." in text
    assert "| monk-1 | decision tree | 100.00 | 80.00 (1 run)" in text
    drawn = draw_figures(found, tmp_path)
    assert sorted(each.name for each in drawn) == ["depth.png", "gap.png", "gates.png"]
    assert all(each.read_bytes().startswith(b"\x89PNG") for each in drawn)


def test_splits_differ_and_score_every_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(folder: Path, *, seed: int) -> Dataset:
        X = np.random.default_rng(seed).integers(0, 3, (80, 4)).astype(np.float32)
        y = (X[:, 0] == 2).astype(np.int64)
        return Dataset(X[:60], y[:60], X[60:], y[60:], names=tuple("abcd"), categories=dict.fromkeys(range(4), 3))

    def plan(setting: Setting, data: Dataset) -> plans.Plan:
        return plans.Plan(plans.one_hot(data), (plans.Stage(20, Cosine(0.1), hard=True),), 10.0, held_out=0.0)

    monkeypatch.setattr(splits, "load_breast_cancer", load)
    monkeypatch.setattr(splits, "RECIPES", {"ours": plan})
    lines: list[str] = []
    found = splits.run_splits(Path(), range(2), report=lines.append)
    assert [each["model"] for each in found] == ["ours", "decision tree", "logistic regression", "neural network"]
    assert all(min(each["accuracies"]) > 60 and len(each["accuracies"]) == 2 for each in found)
    assert found[1]["accuracies"] == [100, 100]
    assert lines[1].startswith("split 1: ours ")
    text = table.render({("breast-cancer", "splits"): {"models": found, "command": "", "machine": {"cpu": ""}}})
    assert "## Breast Cancer, 2 random splits 3 : 1" in text
    assert "| decision tree | 100.00 ± 0.00 | 100.0 100.0 |" in text


def data_with_ten_classes() -> Dataset:
    """Random images, a few of each class."""
    X = np.random.default_rng(0).integers(0, 256, (100, 49), dtype=np.uint8)
    y = np.arange(100) % 10
    return Dataset(X, y, X, y, shape=(1, 7, 7))


@pytest.mark.parametrize("study", list(studies.STUDIES))
def test_cases_of_a_study_differ(study: str) -> None:
    cases = list(studies.STUDIES[study]())
    assert len({(case.label, tuple(case.widths)) for case in cases}) == len(cases)
