"""Heads: from the counts of a circuit's groups to what a model says, without torch.

In: counts, int, (n_rows, n_groups). Out: labels and probabilities of classes, or values of a regression.
Invariant: a head knows how many outputs a group has, and gives what its twin in `gatewise.nn` gives, in float64.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gatewise.checks import as_integer, as_number, as_positive

__all__ = ["Affine", "Classes", "Exponential", "Head", "Label", "Logit"]

Label: TypeAlias = str | int | float | bool

LOGIT_MARGIN = 0.001
"""Shares are drawn into [margin, 1 - margin] before their logit, which is infinite at 0 and 1."""

MAX_GROUP_SIZE = 2**31 - 1


@dataclass(frozen=True)
class Classes:
    """The class with the highest score count / tau, of several the first one; probabilities by softmax of the scores.

    Parameters
    ----------
    labels : tuple of str, int, float or bool
        One for each group, no two equal. If all have one type, `predict` gives an array of it, otherwise of objects.
    tau : float
        Positive.
    group_size : int
        Outputs of each group.

    Examples
    --------
    >>> head = Classes(("no", "yes"), tau=2.0, group_size=4)
    >>> counts = np.array([[4, 0], [1, 3], [2, 2]])
    >>> head.predict(counts).tolist(), head.proba(counts).round(2).tolist()
    (['no', 'yes', 'no'], [[0.88, 0.12], [0.27, 0.73], [0.5, 0.5]])
    """

    labels: tuple[Label, ...]
    tau: float
    group_size: int

    def __post_init__(self) -> None:
        labels = tuple(_as_label(label) for label in self.labels)
        if len(labels) < 1 or len(set(labels)) != len(labels):
            raise ValueError(f"labels must be at least one and differ, got {labels!r:.200}")
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "tau", as_positive("tau", self.tau))
        object.__setattr__(self, "group_size", as_integer("group_size", self.group_size, 1, MAX_GROUP_SIZE))

    @property
    def n_groups(self) -> int:
        """Groups of the circuit."""
        return len(self.labels)

    @cached_property
    def label_array(self) -> NDArray[Any]:
        """The labels, in the dtype that predictions have."""
        kinds = {type(label) for label in self.labels}
        return np.array(self.labels, dtype=None if len(kinds) == 1 else object)

    def scores(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Score of each class, (n_rows, n_groups)."""
        return np.asarray(counts) / self.tau

    def proba(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Probability of each class, (n_rows, n_groups)."""
        scores = self.scores(counts)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
        return shares

    def predict(self, counts: ArrayLike) -> NDArray[Any]:
        """Label of each row, (n_rows,)."""
        labels: NDArray[Any] = self.label_array.take(np.asarray(counts).argmax(axis=1))
        return labels


@dataclass(frozen=True)
class Affine:
    """One value for each group: offset + scale * share, share being the part of the group's outputs that are true.

    Parameters
    ----------
    scale, offset : tuple of float, one for each group
        Every scale is positive.
    group_size : int
        Outputs of each group.

    Examples
    --------
    >>> Affine((10.0,), (5.0,), group_size=4).predict([[0], [1], [4]]).tolist()
    [5.0, 7.5, 15.0]
    """

    scale: tuple[float, ...]
    offset: tuple[float, ...]
    group_size: int

    def __post_init__(self) -> None:
        scale = tuple(as_positive("scale", each) for each in self.scale)
        offset = tuple(as_number("offset", each) for each in self.offset)
        if len(scale) != len(offset) or not scale:
            raise ValueError(f"scale and offset must have one number per group, got {scale!r:.200} and {offset!r:.200}")
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "offset", offset)
        object.__setattr__(self, "group_size", as_integer("group_size", self.group_size, 1, MAX_GROUP_SIZE))

    @property
    def n_groups(self) -> int:
        """Groups of the circuit: outputs of the regression."""
        return len(self.scale)

    def scores(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Value of each output, (n_rows, n_groups)."""
        shares = np.asarray(counts) / self.group_size
        values: NDArray[np.float64] = self._link(shares) * np.array(self.scale) + np.array(self.offset)
        return values

    def predict(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Values, (n_rows,) for one group, else (n_rows, n_groups)."""
        values = self.scores(counts)
        return values[:, 0] if self.n_groups == 1 else values

    def _link(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        return shares


@dataclass(frozen=True)
class Logit(Affine):
    """offset + scale * logit(share), which covers nearly all real numbers.

    Shares are first drawn into [0.001, 0.999].

    Examples
    --------
    >>> Logit((1.0,), (0.0,), group_size=4).predict([[2], [4]]).round(2).tolist()
    [0.0, 6.91]
    """

    def _link(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        inner = LOGIT_MARGIN + (1 - 2 * LOGIT_MARGIN) * shares
        logits: NDArray[np.float64] = np.log(inner / (1 - inner))
        return logits


@dataclass(frozen=True)
class Exponential(Affine):
    """exp(offset + scale * share), which is positive: the mean of counts, whose logarithm is what terms add to.

    There is one group.

    Examples
    --------
    >>> Exponential((2.0,), (0.0,), group_size=4).predict([[0], [2], [4]]).round(2).tolist()
    [1.0, 2.72, 7.39]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_groups != 1:
            raise ValueError(f"scale and offset must have one number for an exponential head, got {self.n_groups}")

    def scores(self, counts: ArrayLike) -> NDArray[np.float64]:
        """The positive value, (n_rows, 1)."""
        return np.exp(super().scores(counts))


Head: TypeAlias = Classes | Affine | Logit | Exponential


def _as_label(value: object) -> Label:
    label = value.item() if isinstance(value, np.generic) else value
    if not isinstance(label, str | int | float):
        raise ValueError(f"labels must be strings, numbers or bools, got {value!r:.60}; convert them, as by str")
    if isinstance(label, float) and not np.isfinite(label):
        raise ValueError(f"labels must be finite, got {label}; leave out rows without a label")
    if isinstance(label, int) and not -(2**63) <= label < 2**63:
        raise ValueError(f"labels must fit int64, got {label!r:.60}; convert them to strings")
    return label
