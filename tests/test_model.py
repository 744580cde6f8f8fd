"""Models: raw rows to answers, against the reference; files that other processes load; misuse."""

import copy
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support.corpus import random_layers
from support.tools import require_module

import gatewise
from gatewise import Circuit, Encoder, FileError, Model
from gatewise.encode import Categorical, Numeric
from gatewise.heads import Affine, Classes, Logit
from gatewise.run import reference
from gatewise.wiring.seeded import SeededCircuit

ROW_COUNTS = (0, 1, 63, 64, 65, 255, 256, 257, 1000)


def make_parts(seed: int = 0, n_groups: int = 3) -> tuple[Encoder, Circuit, np.ndarray]:
    """Numbers with missing values, and a circuit with groups of 20 outputs that reads not all of their bits."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 6)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    encoder = Encoder.fit(X, max_bits=60)
    circuit = random_layers(rng, encoder.n_bits, [40, 20 * n_groups], n_groups, gates=(1, 2, 6, 7, 8, 3))
    return encoder, circuit, X


def make_model(seed: int = 0) -> tuple[Model, np.ndarray]:
    encoder, circuit, X = make_parts(seed)
    return Model.build(encoder, circuit, Classes(("no", "yes", "maybe"), tau=4.0, group_size=20)), X


def test_answers_equal_the_reference() -> None:
    encoder, circuit, X = make_parts()
    labels = np.array(["no", "yes", "maybe"])
    head = Classes(tuple(labels), tau=4.0, group_size=20)
    for model in (Model(encoder, circuit, head), Model.build(encoder, circuit, head)):
        for n_rows in ROW_COUNTS:
            bits = encoder.encode(X[:n_rows]).unpack()
            counts = reference.count_groups(circuit, bits)
            np.testing.assert_array_equal(model.predict(X[:n_rows]), labels[counts.argmax(axis=1)])
            np.testing.assert_array_equal(model.scores(X[:n_rows]), counts / 4.0)
            np.testing.assert_array_equal(model.predict_proba(X[:n_rows]), head.proba(counts))


@pytest.mark.parametrize("kind", [Affine, Logit])
@pytest.mark.parametrize("n_groups", [1, 3])
def test_regression(kind: type[Affine], n_groups: int) -> None:
    encoder, circuit, X = make_parts(1, n_groups)
    head = kind((2.0,) * n_groups, (-1.0,) * n_groups, group_size=20)
    model = Model.build(encoder, circuit, head)
    expected = head.predict(reference.count_groups(circuit, encoder.encode(X).unpack()))
    assert model.predict(X).shape == ((1000,) if n_groups == 1 else (1000, n_groups))
    np.testing.assert_array_equal(model.predict(X), expected)
    with pytest.raises(TypeError, match=f"head must be Classes to have probabilities, got {kind.__name__}"):
        model.predict_proba(X)


def test_build_drops_bits_that_are_not_read() -> None:
    encoder = Encoder([Numeric("age", [1.0, 2.0, 3.0]), Categorical("work", ("a", "b"), True)], named=True)
    circuit = Circuit(6, [1, 6, 5], a=[3, 6, 4], b=[6, 6, 8], outputs=[8, 9, 6], group_ptr=[0, 3])
    model = Model.build(encoder, circuit, Affine((3.0,), (0.0,), 3))
    assert model.describe_bits() == ["age > 2", "work = b"]
    assert model.encoder.names == ("age", "work")
    assert (model.circuit.n_gates, model.circuit.n_inputs) == (1, 2)
    rows = [[0, "a"], [0, "b"], [2.5, "a"], [2.5, "b"]]
    assert model.predict(rows).tolist() == [0.0, 1.0, 0.0, 2.0]
    assert Model(encoder, circuit, Affine((3.0,), (0.0,), 3)).predict(rows).tolist() == [0.0, 1.0, 0.0, 2.0]
    with pytest.raises(ValueError, match="X must have 2 columns"):
        model.predict([[1.0]])


@pytest.mark.parametrize("X", [np.full((4, 3), 7.0), np.full((4, 3), np.nan), np.array([["a"] * 3] * 4)])
def test_constant_tables_have_models(X: np.ndarray, tmp_path: Path) -> None:
    encoder = Encoder.fit(X)
    circuit = Circuit(0, [], [], [], outputs=[0, 1], group_ptr=[0, 1, 2])
    model = Model.build(encoder, circuit, Classes((10, 20), 1.0, 1))
    assert model.info()["bits"] == 0
    assert model.predict(X).tolist() == [20] * 4
    assert model.predict(X[:0]).tolist() == []
    model.save(tmp_path / "constant.gw")
    assert Model.load(tmp_path / "constant.gw").predict(X).tolist() == [20] * 4


def test_threads_and_chunks_do_not_change_answers() -> None:
    model, X = make_model()
    rows = np.tile(X, (model.encoder.chunk_rows // 1000 * 2 + 2, 1))
    expected = np.tile(model.predict(X), len(rows) // 1000)
    for threads in (1, 2, 3):
        other = model.with_threads(threads)
        assert other == model
        np.testing.assert_array_equal(other.predict(rows), expected)
    with pytest.raises(ValueError, match=r"threads must be an integer in 1..256, got 0"):
        model.with_threads(0)


def test_python_threads_share_a_model() -> None:
    model, X = make_model()
    model = model.with_threads(2)
    expected, failures = model.predict(X), []

    def work() -> None:
        for n_rows in (1, 500, 1000) * 20:
            if not np.array_equal(model.predict(X[:n_rows]), expected[:n_rows]):
                failures.append(n_rows)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []


def test_values() -> None:
    model, X = make_model()
    again = make_model()[0]
    assert model == again
    assert hash(model) == hash(again)
    assert model.to_bytes() == again.to_bytes()
    assert model != make_model(1)[0]
    for other in (pickle.loads(pickle.dumps(model.with_threads(2))), copy.deepcopy(model), copy.copy(model)):
        assert other == model
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert pickle.loads(pickle.dumps(model.with_threads(2))).threads == 2
    with pytest.raises(AttributeError, match="cannot assign"):
        model.head = None  # type: ignore[misc,assignment]


def test_info_and_repr() -> None:
    model = make_model()[0]
    info = model.info()
    assert info["columns"] == 6
    assert info["bits"] == model.circuit.n_inputs < 60
    assert info["gates"] == model.circuit.n_gates > 0
    assert info["levels"] == 2
    assert info["bytes"] == len(model.to_bytes())
    assert (info["head"], info["classes"]) == ("Classes", ["no", "yes", "maybe"])
    sizes = f"columns=6, bits={info['bits']}, gates={info['gates']}, levels=2"
    assert repr(model) == f"Model({sizes}, head=Classes, bytes={info['bytes']})"


def test_html_shows_what_info_says() -> None:
    encoder, circuit, _ = make_parts()
    labels = ("<b>no</b>", "a & b", "x" * 1000)
    model = Model.build(encoder, circuit, Classes(labels, tau=4.0, group_size=20))
    rows = dict(re.findall("<tr><th>(.*?)</th><td>(.*?)</td></tr>", model._repr_html_()))
    assert list(rows) == list(model.info())
    assert rows["bytes"] == f"{model.info()['bytes']:,}"
    assert int(rows["gates"]) == model.circuit.n_gates
    assert rows["classes"].startswith("&lt;b&gt;no&lt;/b&gt;, a &amp; b, xxx")
    assert len(rows["classes"]) < 250
    regression = Model.build(encoder, circuit, Affine((1.0,) * 3, (0.0,) * 3, group_size=20))
    assert "classes" not in regression._repr_html_()
    assert "<td>Affine</td>" in regression._repr_html_()


def test_a_network_and_its_model_agree() -> None:
    torch = require_module("torch", "pip install -c constraints.txt torch==2.13.0")
    from gatewise import nn

    X = make_parts()[2]
    encoder = Encoder.fit(X)
    bits = torch.from_numpy(encoder.encode_rows(X).unpack()).float()
    net = nn.logic_network(encoder.n_bits, [200, 120], groups=3, tau=5.0, seed=1).eval()
    model = Model.build(encoder, nn.discretize(net), Classes((0, 1, 2), tau=5.0, group_size=40))
    with torch.no_grad():
        scores = net(bits).numpy()
    np.testing.assert_allclose(model.scores(X), scores, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    regression = torch.nn.Sequential(
        *nn.logic_network(encoder.n_bits, [200, 120], groups=2, tau=60.0, seed=2), nn.Logit([2.0, 3.0], [1.0, -1.0])
    ).eval()
    model = Model.build(encoder, nn.discretize(regression), Logit((2.0, 3.0), (1.0, -1.0), group_size=60))
    with torch.no_grad():
        np.testing.assert_allclose(model.predict(X), regression(bits).numpy(), rtol=1e-5, atol=1e-5)


# Files


def test_files_hold_models_and_circuits(tmp_path: Path) -> None:
    model, X = make_model()
    path = tmp_path / "model.gw"
    for write in (model.save, lambda path: gatewise.save(path, model)):
        write(path)
        assert path.read_bytes() == model.to_bytes()
        for loaded in (Model.load(path), gatewise.load(path)):
            assert loaded == model
            np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    circuit = SeededCircuit(4, gates=[[6, 1]], n_groups=1, seed=0)
    for content in (circuit, circuit.expand()):
        gatewise.save(path, content)
        assert gatewise.load(path) == content
        with pytest.raises(FileError, match=r"model.gw is not a loadable gatewise file: kind must be model, got '"):
            Model.load(path)


LOAD = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "sklearn", "pandas", "polars", "pyarrow", "scipy"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
import numpy as np, gatewise
model = gatewise.load(sys.argv[1])
X = np.load(sys.argv[2])
np.savez(sys.argv[3], labels=model.predict(X), bits=model.encoder.encode(X).unpack(), scores=model.scores(X))
gatewise.save(sys.argv[1], model)
assert gatewise.Encoder.fit([[1, "a"], [2, "b"]]).n_bits == 2
"""


def test_another_process_without_optional_packages_answers_the_same(tmp_path: Path) -> None:
    model, X = make_model()
    paths = [str(tmp_path / name) for name in ("model.gw", "X.npy", "answers.npz")]
    model.save(paths[0])
    np.save(paths[1], X)
    subprocess.run([sys.executable, "-c", LOAD, *paths], check=True, timeout=120)
    answers = np.load(paths[2])
    np.testing.assert_array_equal(answers["labels"], model.predict(X), strict=True)
    np.testing.assert_array_equal(answers["bits"], model.encoder.encode(X).unpack(), strict=True)
    np.testing.assert_array_equal(answers["scores"], model.scores(X), strict=True)
    assert Path(paths[0]).read_bytes() == model.to_bytes()


# Misuse


def test_parts_must_fit_together() -> None:
    encoder, circuit, _ = make_parts()
    head = Classes(("no", "yes", "maybe"), tau=4.0, group_size=20)
    with pytest.raises(ValueError, match=r"circuit must have \d+ inputs, as the encoder has bits, got \d+"):
        Model(encoder.take([0, 1]), circuit, head)
    with pytest.raises(ValueError, match="circuit must have 2 groups, as the head, got 3"):
        Model(encoder, circuit, Classes((0, 1), tau=4.0, group_size=20))
    with pytest.raises(ValueError, match="groups of the circuit must have 10 outputs, as the head says"):
        Model(encoder, circuit, Classes((0, 1, 2), tau=4.0, group_size=10))
    with pytest.raises(TypeError, match="encoder must be of type Encoder, got Circuit"):
        Model(circuit, circuit, head)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="head must be of type Classes or Affine, got str"):
        Model(encoder, circuit, "classes")  # type: ignore[arg-type]
