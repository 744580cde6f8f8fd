"""Heads without torch: their formulas, their labels, and that they equal their twins in gatewise.nn."""

import numpy as np
import pytest
from support.tools import require_module

from gatewise.heads import Affine, Classes, Exponential, Logit

COUNTS = np.random.default_rng(0).integers(0, 51, (200, 3))


def test_classes() -> None:
    head = Classes(("a", "b", "c"), tau=7.5, group_size=50)
    np.testing.assert_allclose(head.scores(COUNTS), COUNTS / 7.5)
    np.testing.assert_allclose(head.proba(COUNTS).sum(axis=1), 1)
    np.testing.assert_array_equal(head.proba(COUNTS).argmax(axis=1), COUNTS.argmax(axis=1))
    assert head.predict([[1, 3, 3], [2, 2, 2], [0, 0, 1]]).tolist() == ["b", "a", "c"]
    assert head.proba(np.zeros((0, 3))).shape == (0, 3)
    assert np.isfinite(Classes((0, 1), tau=1e-300, group_size=50).proba([[50, 0]])).all()


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (("no", "yes"), "U"),
        ((3, 7), "i"),
        ((0.5, 2.0), "f"),
        ((False, True), "b"),
        (("no", 7), "O"),
        ((False, 2), "O"),
        (tuple(np.array(["a", "bc"])), "U"),
        (tuple(np.array([2, 9], np.uint8)), "i"),
    ],
)
def test_labels_keep_their_type(labels: tuple[object, ...], kind: str) -> None:
    head = Classes(labels, tau=1.0, group_size=1)
    predicted = head.predict([[0, 1], [1, 0]])
    assert predicted.dtype.kind == kind
    assert predicted.tolist() == [labels[1], labels[0]]
    assert [type(label) for label in predicted.tolist()] == [type(label) for label in head.labels[::-1]]


def test_regression_has_one_value_for_each_group() -> None:
    head = Affine((10.0, 2.0, 1.0), (5.0, 0.0, -1.0), group_size=50)
    np.testing.assert_allclose(head.predict(COUNTS), COUNTS / 50 * [10, 2, 1] + [5, 0, -1])
    assert Affine((1.0,), (0.0,), group_size=50).predict(COUNTS[:, :1]).shape == (200,)


def test_an_exponential_head_gives_one_positive_value() -> None:
    head = Exponential((7.0,), (-3.0,), group_size=50)
    np.testing.assert_allclose(head.predict(COUNTS[:, :1]), np.exp(COUNTS[:, 0] * 0.14 - 3))
    with pytest.raises(ValueError, match="must have one number for an exponential head, got 2"):
        Exponential((1.0, 2.0), (0.0, 0.0), group_size=50)


def test_equal_to_torch() -> None:
    torch = require_module("torch", "pip install -c constraints.txt torch==2.13.0")
    from gatewise import nn
    from gatewise.nn import head as torch_heads

    bits = torch.tensor(np.random.default_rng(1).integers(0, 2, (100, 150)).astype(np.float32))
    counts = bits.reshape(100, 3, 50).sum(-1).numpy().astype(int)
    scores = nn.GroupSum(3, tau=7.5)(bits)
    head = Classes((0, 1, 2), tau=7.5, group_size=50)
    np.testing.assert_allclose(head.scores(counts), scores.numpy(), rtol=1e-6)
    np.testing.assert_allclose(head.proba(counts), scores.softmax(-1).numpy(), rtol=1e-5)
    shares = nn.GroupSum(3, tau=50.0)(bits)
    scale, offset = (10.0, 0.1, 3.0), (5.0, -1.0, 0.0)
    for ours, theirs in ((Affine, torch_heads.Affine), (Logit, torch_heads.Logit)):
        expected = theirs(scale, offset)(shares).numpy()
        np.testing.assert_allclose(ours(scale, offset, group_size=50).scores(counts), expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Classes((), 1.0, 1), "labels must be at least one and differ"),
        (lambda: Classes(("a", "a"), 1.0, 1), "labels must be at least one and differ"),
        (lambda: Classes((1, True), 1.0, 1), "labels must be at least one and differ"),
        (lambda: Classes(("a", None), 1.0, 1), "labels must be strings, numbers or bools, got None"),
        (lambda: Classes((1.0, float("nan")), 1.0, 1), "labels must be finite, got nan"),
        (lambda: Classes((1, 2**63), 1.0, 1), "labels must fit int64, got 9223372036854775808"),
        (lambda: Classes(("a", "b"), 0.0, 1), "tau must be positive, got 0.0"),
        (lambda: Classes(("a", "b"), "1", 1), "tau must be a finite number, got '1'"),
        (lambda: Classes(("a", "b"), 1.0, 0), "group_size must be an integer in 1.."),
        (lambda: Affine((0.0,), (1.0,), 1), "scale must be positive, got 0.0"),
        (lambda: Affine((1.0,), (1.0, 2.0), 1), "scale and offset must have one number per group"),
        (lambda: Affine((), (), 1), "scale and offset must have one number per group"),
        (lambda: Logit((1.0,), (float("inf"),), 1), "offset must be a finite number, got inf"),
    ],
)
def test_bad_values_are_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
