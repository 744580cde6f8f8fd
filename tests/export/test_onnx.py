"""ONNX files run by onnxruntime, against the reference and the models that they were made of."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.corpus import circuits, random_layers
from support.tools import require_module

onnx = require_module("onnx", "pip install 'gatewise[export]'")
InferenceSession = require_module("onnxruntime", "pip install onnxruntime").InferenceSession

from gatewise import Circuit, Encoder, Model
from gatewise.encode import Categorical, Numeric
from gatewise.export.onnx import to_onnx, write_onnx
from gatewise.export.onnx.encoder import name_input
from gatewise.extras import install_command
from gatewise.heads import Affine, Classes, Exponential, Head, Logit

CORPUS = circuits()


@pytest.mark.parametrize("name", CORPUS)
def test_graphs_of_the_corpus_are_valid(name: str) -> None:
    onnx.checker.check_model(write_onnx(CORPUS[name]), full_check=True)


def run(model: Model, inputs: dict[str, np.ndarray], **options: Any) -> dict[str, np.ndarray]:
    """All outputs of the model's graph, by name."""
    package = to_onnx(model, **options)
    assert package == to_onnx(model, **options)
    content = package["model.onnx"]
    onnx.checker.check_model(content, full_check=True)
    session = InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def make_model(encoder: Encoder, head: Head) -> Model:
    circuit = random_layers(
        np.random.default_rng(0), encoder.n_bits, [60, 60, head.n_groups * head.group_size], head.n_groups
    )
    return Model(encoder, circuit, head)


def make_numbers() -> np.ndarray:
    """Rows of a float, one with missing values, and a code; some values lie on thresholds or next to them."""
    rng = np.random.default_rng(1)
    X = np.stack([rng.normal(size=300), rng.normal(size=300).round(1), rng.integers(0, 4, 300)], axis=1)
    X[::7, 1] = np.nan
    X[::11, 0] = np.inf
    X[::13, 0] = -np.inf
    return X


CLASSES = {
    "strings": ("no", "perhaps", "ja ü"),
    "integers": (3, -1, 7),
    "floats": (0.5, 1.5, -2.0),
    "bools": (False, True),
    "one": ("only",),
}


@pytest.mark.parametrize("labels", CLASSES.values(), ids=CLASSES)
def test_labels_scores_and_probabilities(labels: tuple[Any, ...]) -> None:
    X = make_numbers()
    model = make_model(Encoder.fit(X, categorical=[2]), Classes(labels, tau=3.7, group_size=9))
    found = run(model, {"X": X})
    np.testing.assert_array_equal(found["label"].astype(model.head.label_array.dtype), model.predict(X), strict=True)
    np.testing.assert_array_equal(found["scores"], model.scores(X), strict=True)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), rtol=1e-12)


def test_ties_go_to_the_lowest_class() -> None:
    circuit = Circuit(1, [], [], [], [0, 2, 2, 1], [0, 1, 2, 3, 4])
    model = Model(Encoder((Numeric("x0", [0.5]),)), circuit, Classes((10, 11, 12, 13), tau=1.0, group_size=1))
    assert run(model, {"X": np.array([[0.0], [1.0]])})["label"].tolist() == [13, 11]


@pytest.mark.parametrize("n_groups", [1, 3])
def test_values(n_groups: int) -> None:
    X = make_numbers()
    scale, offset = (1.3, 0.7, 12.1)[:n_groups], (-0.1, 0.3, 5.5)[:n_groups]
    affine = make_model(Encoder.fit(X), Affine(scale, offset, group_size=9))
    np.testing.assert_array_equal(run(affine, {"X": X})["value"], affine.predict(X), strict=True)
    logit = make_model(Encoder.fit(X), Logit(scale, offset, group_size=9))
    np.testing.assert_allclose(run(logit, {"X": X})["value"], logit.predict(X), rtol=1e-12, strict=True)
    exponential = make_model(Encoder.fit(X), Exponential(scale[:1], offset[:1], group_size=9))
    np.testing.assert_allclose(run(exponential, {"X": X})["value"], exponential.predict(X), rtol=1e-12, strict=True)


def test_float32_inputs_are_compared_exactly() -> None:
    thresholds = np.unique([-np.inf, -1e300, -0.1, 0.1, 1 / 3, 16777217.0, 1e300])
    codes = (0.1, 0.5, 16777217)
    encoder = Encoder((Numeric("x0", thresholds, missing=True), Categorical("x1", codes)))
    outputs = np.arange(encoder.n_bits) + 2
    head = Affine((1.0,) * encoder.n_bits, (0.0,) * encoder.n_bits, group_size=1)
    model = Model(encoder, Circuit(encoder.n_bits, [], [], [], outputs, np.arange(encoder.n_bits + 1)), head)
    with np.errstate(over="ignore"):
        near = thresholds.astype(np.float32)
    steps = [near, *(np.nextafter(near, np.float32(far)) for far in (-np.inf, np.inf)), [np.nan]]
    first = np.concatenate(steps).astype(np.float32)
    X = np.stack([first, np.resize(np.array(codes, np.float32), len(first))], axis=1)
    np.testing.assert_array_equal(run(model, {"X": X}, dtype="float32")["value"], model.predict(X), strict=True)


def test_columns_of_strings_and_numbers() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "age > 3": rng.integers(0, 90, 200),
            "job": rng.choice(["nurse", "größer", None, "x"], 200),
            "constant": np.ones(200),
            "value": rng.choice([1.0, 2.0, np.nan], 200),
            "sex": rng.choice(["f", "m"], 200),
        }
    )
    model = make_model(Encoder.fit(frame, categorical=["value"]), Classes(("a", "b"), tau=1.0, group_size=8))
    unseen = frame.assign(job=frame["job"].replace("x", "unseen"))
    for table in (frame, unseen):
        read = table.drop(columns="constant")
        inputs = {
            name_input(name): read[[name]].fillna("").to_numpy(object)
            if name in ("job", "sex")
            else read[[name]].to_numpy(float)
            for name in read
        }
        np.testing.assert_array_equal(run(model, inputs)["label"], model.predict(table))


def test_nodes_number_with_levels_and_kinds() -> None:
    circuit = random_layers(np.random.default_rng(0), 50, [2000] * 4, 1)
    graph = onnx.load_from_string(write_onnx(circuit)).graph
    assert len(graph.node) <= 4 * 16 * 6 + 10
    assert {node.op_type for node in graph.node} <= {
        "And", "Or", "Xor", "Not", "Gather", "Concat", "Transpose", "Shape", "Expand",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            make_model(Encoder((Categorical("x0", ("a", 1)),)), Classes((0, 1), tau=1.0, group_size=2)),
            "values of column 'x0' must all be strings or all be numbers for ONNX",
        ),
        (
            make_model(Encoder((Categorical("x0", ("a", ""), missing=True),)), Classes((0, 1), tau=1.0, group_size=2)),
            "must not have the empty string for ONNX",
        ),
        (
            make_model(Encoder((Numeric("x0", [1.0, 2.0]),)), Classes((0, "b"), tau=1.0, group_size=2)),
            "labels must be of one type for ONNX",
        ),
    ],
)
def test_what_cannot_be_expressed_is_refused(model: Model, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_onnx(model)


def test_bad_number_is_refused() -> None:
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got 'float16'"):
        to_onnx(CORPUS["8-bit adder"], dtype="float16")  # type: ignore[arg-type]


def test_missing_onnx_is_named_with_the_fix() -> None:
    code = "import sys; sys.modules['onnx'] = None; import gatewise.export.onnx"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    fix = install_command("export")
    assert f"gatewise.export.onnx needs onnx, which is not installed; get it by: {fix}" in done.stderr
