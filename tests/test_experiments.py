"""The experiments, on small made-up images: files, wiring, training that resumes, records, table and figures."""

import dataclasses
import hashlib
from pathlib import Path

import numpy as np
import pytest
from tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")
require_module("sklearn", "pip install -c constraints.txt scikit-learn")
require_module("matplotlib", "pip install -c constraints.txt matplotlib")

from experiments import files, plans, records, studies, table, training
from experiments.data import Dataset
from experiments.figures import draw_figures
from experiments.settings import SETTINGS, Setting
from experiments.wiring import NearbyWiring
from gatewise.train import Cosine

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


@pytest.mark.parametrize("layer", [0, 1])
def test_nearby_wires_are_paired(layer: int) -> None:
    wiring = NearbyWiring((2, 12, 12), 3, reach=(4, 6), margin=2)
    n_inputs, width = 2 * 12 * 12 * 3, 600
    in_features = (n_inputs, width)[layer]
    a, b = wiring(7, layer, in_features=in_features, out_features=width)
    assert len(a) == len(b) == width
    assert (a != b).all()
    assert len(set(zip(a.tolist(), b.tolist(), strict=True))) == width
    again = wiring(7, layer, in_features=in_features, out_features=width)
    np.testing.assert_array_equal(again, (a, b))
    assert (wiring(8, layer, in_features=in_features, out_features=width)[0] != a).any()
    points = wiring.place(7, layer, width)
    inside = wiring._read_inputs()
    positions = np.full((in_features, 2), np.nan)
    positions[inside if layer == 0 else slice(None)] = points
    assert not np.isnan(positions[[*a, *b]]).any()  # nothing in the margin is read
    distance = np.abs(positions[a] - positions[b]).max(axis=1)
    assert np.mean(distance < wiring.reach[layer]) > 0.9  # but for the odd wires of squares
    if layer == 0:
        rows, columns = np.divmod(inside // 3 % 144, 12)
        assert min(rows.min(), columns.min()) == 2
        assert max(rows.max(), columns.max()) == 9


def test_later_layers_are_wired_everywhere() -> None:
    wiring = NearbyWiring((1, 12, 12), 1, reach=(4,))
    a, b = wiring(0, 1, in_features=400, out_features=400)
    assert np.abs(a - b).max() > 300


def test_a_network_is_trained_measured_and_resumed(data: Dataset, tmp_path: Path) -> None:
    plan, lines = dataclasses.replace(make_plan(data, (40, 10)), batch_size=10), []
    trained = training.train_network(SETTING, plan, data, 0, folder=tmp_path / "run", report=lines.append)
    assert len(lines) == len(trained.curve) == 50
    measured = records.measure_seed(trained, plan, data, 0)
    assert measured["accuracy"] > 60
    assert measured["gates"] == SETTING.n_gates > measured["gates_optimized"]
    assert measured["gap"] == measured["soft_accuracy"] - measured["accuracy"]
    again = training.train_network(SETTING, plan, data, 0, folder=tmp_path / "run", report=lines.append)
    assert len(lines) == 50  # nothing was trained
    assert again.model == trained.model
    fresh = training.train_network(SETTING, plan, data, 0, folder=None, report=silent)
    assert fresh.model == trained.model


def test_the_shortest_of_several_networks_is_kept(data: Dataset) -> None:
    plan = dataclasses.replace(make_plan(data, (2, 1)), n_restarts=3, repeats=2)
    single = dataclasses.replace(plan, n_restarts=1)
    kept = training.train_network(SETTING, plan, data, 0, folder=None, report=silent)
    tried = [training.train_network(SETTING, single, data, i, folder=None, report=silent) for i in range(3)]

    def length(trained: training.Trained) -> int:
        n_wrong = int((trained.model.predict(data.X) != data.y).sum())
        return trained.model.circuit.n_gates + plan.exception_gates * n_wrong

    assert length(kept) == min(map(length, tried))


def test_plans_are_scaled_to_epochs(data: Dataset) -> None:
    stages = make_plan(data).scaled(4).stages
    assert [stage.epochs for stage in stages] == [3, 1]
    assert stages[1].hard
    assert isinstance(stages[1].schedule, Cosine)


def test_table_and_figures_from_records(data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan(data, (2, 1))
    trained = training.train_network(SETTING, plan, data, 0, folder=None, report=silent)
    measured = records.measure_seed(trained, plan, data, 0)
    common = {"accuracy": records.summarize([90.0, 92.0]), "seeds": [measured] * 2}
    path = tmp_path / "results.jsonl"
    monkeypatch.setattr("sys.argv", ["experiments", "mnist-small", "--data", "somewhere", "--seeds", "2"])
    for name in ("mnist-small", "cifar-small"):
        time = {"packed_ns": 95.4, "raw_ns": 1234.0}
        records.append({"name": name, "recipe": "paper", "time": time} | common, path)
    case = studies.run_case(studies.Case("all", [30, 30]), data_with_ten_classes(), seed=0, epochs=1)
    records.append({"name": "mnist", "recipe": "study depth", "cases": [case]}, path)
    baseline = {"model": "decision tree", "accuracies": [80.0], "parameters": 9}
    records.append({"name": "monk-1", "recipe": "baselines", "baselines": [baseline]}, path)
    found = records.latest(path)
    text = table.render(found)
    assert "**91.00 ± 1.41**" in text
    assert "95 / 1,234" in text
    assert "97.69 ± 0.11" in text
    assert "    python -m experiments mnist-small --seeds 2\n" in text
    assert "| monk-1 | decision tree | 100.00 | 80.00 (1 run)" in text
    drawn = draw_figures(found, tmp_path)
    assert sorted(each.name for each in drawn) == ["depth.png", "gap.png", "gates.png"]
    assert all(each.read_bytes().startswith(b"\x89PNG") for each in drawn)


def data_with_ten_classes() -> Dataset:
    """Random images, a few of each class."""
    X = np.random.default_rng(0).integers(0, 256, (100, 49), dtype=np.uint8)
    y = np.arange(100) % 10
    return Dataset(X, y, X, y, shape=(1, 7, 7))


@pytest.mark.parametrize("study", list(studies.STUDIES))
def test_cases_of_a_study_differ(study: str) -> None:
    cases = list(studies.STUDIES[study]())
    assert len({(case.label, tuple(case.widths)) for case in cases}) == len(cases)
