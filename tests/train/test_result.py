"""What becomes of a training: a model, or a warning that nothing was learned."""

import dataclasses
import warnings
from typing import Any

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.training.runs import RECIPE, fit, make_data, make_network

from gatewise import Encoder, Model, nn, train
from gatewise.train import ConvergenceWarning

X = np.random.default_rng(0).normal(size=(300, 5))
ENCODER = Encoder.fit(X, max_thresholds=4)
LEARNING = train.Recipe(epochs=20, batch_size=30, schedule=train.Constant(0.05))


def learn(task: Any, y: np.ndarray) -> train.Result:
    data = train.Bits(ENCODER.encode_rows(X), y)
    return train.fit(task.network(ENCODER.n_bits, [120, 120], seed=0), task, data, recipe=LEARNING)


def test_a_classification_becomes_a_model() -> None:
    result = learn(train.Classification(2), (X[:, 0] > 0).astype(int))
    model = result.model(ENCODER, labels=["low", "high"])
    expected = result.predict(ENCODER.encode_rows(X))
    assert model.predict(X).tolist() == [("low", "high")[each] for each in expected]
    assert model.circuit.n_gates < 240
    outputs = result.net(torch.from_numpy(ENCODER.encode_rows(X).unpack()))
    np.testing.assert_allclose(model.predict_proba(X), outputs.softmax(1).detach().numpy(), rtol=1e-4)
    np.testing.assert_array_equal(result.model(ENCODER).predict(X), expected)
    seeded = result.model(ENCODER, circuit=nn.discretize_seeded(result.net))
    assert seeded == result.model(ENCODER)
    assert seeded.origin is not None


@pytest.mark.parametrize("head", [nn.Affine, nn.Logit])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_regression_becomes_a_model(head: type[nn.Affine], n_outputs: int) -> None:
    y = X[:, :n_outputs].clip(-1, 1) * [10.0, 3.0][:n_outputs] + 50
    result = learn(train.Regression(head.fitted(y)), y)
    model = result.model(ENCODER)
    expected = result.predict(ENCODER.encode_rows(X))
    np.testing.assert_allclose(model.predict(X).reshape(expected.shape), expected, rtol=1e-4)
    assert Model.from_bytes(model.to_bytes()) == model


@pytest.mark.parametrize(
    ("task", "y"),
    [(train.Binary(), X[:, 0] > 0), (train.MultiLabel(2), X[:, :2] > 0)],
    ids=["binary", "multi-label"],
)
def test_labels_that_no_head_has_are_refused(task: train.MultiLabel, y: np.ndarray) -> None:
    with pytest.raises(TypeError, match="task must be Classification or Regression for a Model, got"):
        learn(task, y).model(ENCODER)


def test_the_encoder_must_fit() -> None:
    result = learn(train.Classification(2), (X[:, 0] > 0).astype(int))
    with pytest.raises(ValueError, match="circuit must have"):
        result.model(Encoder.fit(X, max_thresholds=2))
    with pytest.raises(ValueError, match="labels must be 2, one per group, got 3"):
        result.model(ENCODER, labels=["a", "b", "c"])


FEW = dataclasses.replace(RECIPE, schedule=train.Constant(1e-4), epochs=1)


def test_no_gate_that_changed_is_a_warning() -> None:
    message = r"no gate changed in 8 steps, and the circuit's accuracy on the validation rows is .*gives 0.6167; train"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        fit(recipe=FEW)
    assert caught[0].filename.endswith("training/runs.py")  # where fit was called


NUMBERS = X[:, 0] * 5 + 20
WEIGHTS = np.where(X[:, 0] > 1, 5.0, 1.0)
BASELINES = {
    "classification": (train.Classification(3), (X[:, 0] > 0).astype(int) + (X[:, 1] > 1), None),
    "weighted": (train.Classification(2), (X[:, 0] > 1).astype(int), WEIGHTS),
    "multi-label": (train.MultiLabel(2), X[:, :2] > 0.5, None),
    "binary": (train.Binary(), X[:, 0] > 1, WEIGHTS),
    "regression": (train.Regression(nn.Affine.fitted(NUMBERS)), NUMBERS, WEIGHTS),
    "two outputs": (train.Regression(nn.Affine.fitted(X[:, :2])), X[:, :2], None),
}


@pytest.mark.parametrize("case", BASELINES)
def test_the_baseline_is_the_best_answer_for_all_rows(case: str) -> None:
    task, y, weights = BASELINES[case]
    targets = task.check("data", np.asarray(y))
    each = np.ones(len(X)) if weights is None else weights
    if isinstance(task, train.Classification):
        expected = max(each[targets == k].sum() for k in range(task.classes)) / each.sum()
    elif isinstance(task, train.MultiLabel):
        shares = each @ targets / each.sum()
        expected = np.maximum(shares, 1 - shares).mean()
    else:
        errors = (targets - np.average(targets, axis=0, weights=each)) / task.head.scale.numpy()
        expected = (each @ np.square(errors) / each.sum()).mean()
    assert task.baseline(task.count(targets, weights)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("case", BASELINES)
def test_one_answer_for_all_rows_is_a_warning(case: str) -> None:
    task, y, weights = BASELINES[case]
    data = train.Bits(np.zeros((len(X), ENCODER.n_bits)), y, weights)  # all rows are equal
    recipe = train.Recipe(epochs=3, batch_size=30, schedule=train.Constant(0.3))
    net = task.network(ENCODER.n_bits, [60, 60], seed=0)
    with pytest.warns(ConvergenceWarning, match="nothing was learned: the circuit's .* on the training rows is"):
        train.fit(net, task, data, recipe=recipe)


@pytest.mark.parametrize("case", BASELINES)
def test_what_was_learned_is_no_warning(case: str) -> None:
    task, y, weights = BASELINES[case]
    data = train.Bits(ENCODER.encode_rows(X), y, weights)
    recipe = train.Recipe(epochs=40, batch_size=30, schedule=train.Constant(0.1))
    train.fit(task.network(ENCODER.n_bits, [120, 120], seed=0), task, data, recipe=recipe)


def test_equal_targets_are_no_warning() -> None:
    y = np.full(len(X), 3.0)
    task = train.Regression(nn.Affine(1.0, 3.0))
    result = train.fit(task.network(20, [60], seed=0), task, train.Bits(ENCODER.encode_rows(X), y), recipe=FEW)
    assert result.history[-1].score > 0


def test_a_network_that_is_right_already_is_no_warning() -> None:
    rows = make_data().packed
    data, task = train.Bits(rows, rows.unpack()[:, 0]), train.Classification(2)
    recipe = train.Recipe(epochs=60, batch_size=16, schedule=train.Constant(0.1))
    net = train.fit(task.network(12, [96, 96], seed=0), task, data, recipe=recipe).net
    assert train.fit(net.train(), task, data, recipe=FEW).history[-1].score == 1.0


def test_an_interrupted_run_is_no_warning() -> None:
    def interrupt(record: train.Record) -> None:
        raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit(net=make_network(), recipe=FEW, callbacks=[interrupt]).interrupted
