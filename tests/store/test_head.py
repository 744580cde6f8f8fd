"""Heads as documents: what is stored gives an equal head, and anything else is refused."""

import json

import pytest

from gatewise.heads import Affine, Classes, Exponential, Head, Logit
from gatewise.store.head import restore_head, store_head


@pytest.mark.parametrize(
    "head",
    [
        Classes(("no", 7, 2.5, True), 0.1, 3),
        Affine((0.1, 2.0), (1e300, -1 / 3), 7),
        Logit((1.0,), (0.0,), 1),
        Exponential((0.3,), (-2.0,), 5),
    ],
)
def test_round_trip(head: Head) -> None:
    restored = restore_head(json.loads(json.dumps(store_head(head))))
    assert restored == head
    assert type(restored) is type(head)
    labels = getattr(restored, "labels", ())
    assert [type(label) for label in labels] == [type(label) for label in getattr(head, "labels", ())]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], r"kind of the head must be one of classes, affine, logit, exponential, got \[\]"),
        ({"kind": ["logit"]}, r"kind of the head must be one of classes, affine, logit, exponential, got \['logit'\]"),
        ({"kind": "logit", "scale": [1.0]}, "head must have group_size, offset"),
        ({"kind": "classes", "labels": [1], "tau": 1.0, "group_size": 1, "beta": 2}, "head must have no 'beta'"),
        (
            {"kind": "logit", "scale": 1.0, "offset": [0.0], "group_size": 1},
            "scale of the head must be a list, got 1.0",
        ),
        ({"kind": "classes", "labels": [[]], "tau": 1.0, "group_size": 1}, r"labels must be strings, .* got \[\]"),
    ],
)
def test_other_documents_are_refused(document: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        restore_head(document)
