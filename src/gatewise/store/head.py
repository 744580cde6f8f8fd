"""Heads in files: what JSON can express of them, and back again from what strangers wrote."""

from dataclasses import fields

from gatewise.heads import Affine, Classes, Exponential, Head, Logit
from gatewise.store.container import Document, check_names

HEADS: dict[str, type[Head]] = {
    "classes": Classes,
    "affine": Affine,
    "logit": Logit,
    "exponential": Exponential,
}


def store_head(head: Head) -> Document:
    """JSON document that stands for a head.

    Examples
    --------
    >>> store_head(Affine((2.0,), (1.0,), group_size=3))
    {'kind': 'affine', 'scale': [2.0], 'offset': [1.0], 'group_size': 3}
    """
    values = {field.name: getattr(head, field.name) for field in fields(head)}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {"kind": type(head).__name__.lower(), **plain}


def restore_head(document: object) -> Head:
    """Inverse of `store_head`; raises ValueError unless the document is one that it gives.

    Examples
    --------
    >>> restore_head({"kind": "affine", "scale": [2.0], "offset": [1.0], "group_size": 3})
    Affine(scale=(2.0,), offset=(1.0,), group_size=3)
    """
    kind = document.get("kind") if isinstance(document, dict) else document
    if not isinstance(document, dict) or not isinstance(kind, str) or kind not in HEADS:
        raise ValueError(f"kind of the head must be one of {', '.join(HEADS)}, got {kind!r:.60}")
    head = HEADS[kind]
    names = {field.name for field in fields(head)}
    check_names("head", document, {"kind", *names})
    for name in names - {"tau", "group_size"}:
        if not isinstance(document[name], list):
            raise ValueError(f"{name} of the head must be a list, got {document[name]!r:.60}")
    return head(**{name: document[name] for name in names})
