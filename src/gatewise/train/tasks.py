"""What a network is trained for: its head, the loss, the score of its circuit, and which targets make sense.

In: outputs of a network, (n_rows, groups), and targets. Out: a loss and a score for each row, and the score of the best
answer that is the same for all rows.
A task is a small value without state; everything that predictions need is in the network that `network` builds.
`loss_name` is what `nn.TrainStep` calls the same loss, or None; `native_part` and `native_targets` give the network and
the targets that it takes.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Module, Sequential, functional

from gatewise.nn import Affine, GroupSum, LogicNetwork, logic_network
from gatewise.nn.step import LossName


@dataclass(frozen=True)
class Classification:
    """One of several classes: softmax cross-entropy on the sums of the groups; the largest count wins.

    Parameters
    ----------
    classes : int
        Targets are integers in 0..classes - 1.
    label_smoothing : float
        Share of a target's probability that is spread over all classes.

    Examples
    --------
    >>> import torch
    >>> net = Classification(3).network(8, [30, 30], seed=0)
    >>> net(torch.rand(2, 8)).shape
    torch.Size([2, 3])
    """

    classes: int
    label_smoothing: float = 0.0

    score_name: ClassVar[str] = "accuracy"
    maximize: ClassVar[bool] = True
    loss_name: ClassVar[LossName | None] = "cross_entropy"

    def __post_init__(self) -> None:
        if self.classes < 2:
            raise ValueError(f"classes must be at least 2, got {self.classes}; for a yes or no use Binary")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(f"label_smoothing must be in [0, 1), got {self.label_smoothing}")

    @property
    def groups(self) -> int:
        """Groups of the network's outputs."""
        return self.classes

    def network(self, in_features: int, widths: Sequence[int], **options: Any) -> LogicNetwork:
        """`gatewise.nn.logic_network` with a group for each class."""
        return logic_network(in_features, widths, self.classes, **options)

    def check(self, name: str, targets: NDArray[Any]) -> NDArray[np.int64]:
        """Targets as the loss takes them, int64 (n_rows,)."""
        if targets.ndim != 1 or not np.isin(targets.dtype.kind, ["b", "i", "u"]):
            raise ValueError(f"{name} targets must be integers of shape (n_rows,), got {_describe(targets)}")
        wrong = (targets < 0) | (targets >= self.classes)
        _refuse_values(f"{name} targets must be in 0..{self.classes - 1}", wrong, targets)
        return targets.astype(np.int64)

    def count(self, targets: NDArray[Any], weights: NDArray[Any] | None = None) -> NDArray[Any]:
        """Rows of each class, or the sums of their weights, (classes,)."""
        return np.bincount(targets, weights, minlength=self.classes)

    def baseline(self, counts: NDArray[Any]) -> float:
        """Accuracy of the most frequent class, whatever the row."""
        return float(counts.max() / counts.sum())

    def check_counts(self, training: NDArray[Any], validation: NDArray[Any] | None) -> None:
        """Raise ValueError for one class only, or for a validation without a class that training has or vice versa."""
        present = np.flatnonzero(training)
        if len(present) < 2:
            raise ValueError(f"data must have rows of at least 2 classes, got class {present[0]} only")
        if validation is None:
            return
        for name, other, counts, others in (
            ("validation", "data", validation, training),
            ("data", "validation", training, validation),
        ):
            missing = np.flatnonzero((counts == 0) & (others > 0))
            if len(missing):
                raise ValueError(
                    f"{name} must have rows of every class in {other}, got none of class {missing[0]}; "
                    "train.split gives each class its share"
                )

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy, (n_rows,)."""
        return functional.cross_entropy(outputs, y, label_smoothing=self.label_smoothing, reduction="none")

    def native_part(self, net: Module) -> Module:
        """The whole network."""
        return net

    def native_targets(self, y: Tensor) -> Tensor:
        """The targets as they are."""
        return y

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """1 for a right class, 0 for a wrong one, (n_rows,)."""
        return (self.predict(outputs) == y).double()

    def predict(self, outputs: Tensor) -> Tensor:
        """Classes, int64 (n_rows,); the lowest of equals, as `Engine.classify` gives."""
        return outputs.argmax(1)


@dataclass(frozen=True)
class MultiLabel:
    """Several labels, each true or false: logistic loss; a label is predicted when half of its group is true.

    Parameters
    ----------
    labels : int
        Targets are 0 and 1, (n_rows, labels).

    Examples
    --------
    >>> import torch
    >>> net = MultiLabel(2).network(8, [40, 40], seed=0)
    >>> MultiLabel(2).predict(net(torch.rand(5, 8))).shape
    torch.Size([5, 2])
    """

    labels: int

    score_name: ClassVar[str] = "accuracy"
    maximize: ClassVar[bool] = True
    loss_name: ClassVar[LossName | None] = "binary_cross_entropy"
    label_smoothing: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if self.labels < 1:
            raise ValueError(f"labels must be at least 1, got {self.labels}")

    @property
    def groups(self) -> int:
        """Groups of the network's outputs."""
        return self.labels

    def network(
        self, in_features: int, widths: Sequence[int], *, tau: float | None = None, **options: Any
    ) -> LogicNetwork:
        """`gatewise.nn.logic_network` with a group for each label, centered: half of the group gives 0.

        tau is the rule of `GroupSum` for two classes by default.
        """
        in_group = widths[-1] // self.labels
        tau = tau or GroupSum(2).temperature(2 * in_group)
        net = logic_network(in_features, widths, self.labels, tau=tau, **options)
        net[-1] = GroupSum(self.labels, tau, beta=-in_group / 2 / tau)
        return net

    def check(self, name: str, targets: NDArray[Any]) -> NDArray[np.float32]:
        """Targets as the loss takes them, float32 (n_rows, labels)."""
        if targets.ndim != 2 or targets.shape[1] != self.labels:
            rule = f"0 and 1 of shape (n_rows, {self.labels})"
            raise ValueError(f"{name} targets must be {rule}, got {_describe(targets)}")
        _refuse_values(f"{name} targets must be 0 or 1", ~np.isin(targets, [0, 1]), targets)
        return targets.astype(np.float32)

    def count(self, targets: NDArray[Any], weights: NDArray[Any] | None = None) -> NDArray[Any]:
        """Rows in which each label is false, and true, or the sums of their weights, (labels, 2)."""
        each = np.ones(len(targets)) if weights is None else weights.astype(np.float64)
        return np.stack([each @ (1 - targets), each @ targets], 1)

    def baseline(self, counts: NDArray[Any]) -> float:
        """Accuracy of the more frequent answer for each label, whatever the row."""
        return float((counts.max(1) / counts.sum(1)).mean())

    def check_counts(self, training: NDArray[Any], validation: NDArray[Any] | None) -> None:
        """Raise ValueError for a label that is always true or always false; validation may lack rare labels."""
        constant = np.argwhere(training == 0)
        if len(constant):
            label, missing = constant[0]
            kept = f"{bool(1 - missing)} only"
            raise ValueError(f"every label must be true in some rows and false in others, got {kept} for label {label}")

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Logistic loss, averaged over labels, (n_rows,)."""
        return functional.binary_cross_entropy_with_logits(outputs, y, reduction="none").mean(1)

    def native_part(self, net: Module) -> Module:
        """The whole network."""
        return net

    def native_targets(self, y: Tensor) -> Tensor:
        """The targets as they are."""
        return y

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Share of right labels, (n_rows,)."""
        return ((outputs >= 0) == (y > 0.5)).double().mean(1)

    def predict(self, outputs: Tensor) -> Tensor:
        """Labels, bool (n_rows, labels)."""
        return outputs >= 0


class Binary(MultiLabel):
    """Yes or no: one label, with targets of shape (n_rows,).

    Examples
    --------
    >>> import torch
    >>> Binary().network(8, [40, 40], seed=0)(torch.rand(5, 8)).shape
    torch.Size([5, 1])
    """

    def __init__(self) -> None:
        super().__init__(1)

    def __repr__(self) -> str:
        return "Binary()"

    def check(self, name: str, targets: NDArray[Any]) -> NDArray[np.float32]:
        """Targets as the loss takes them, float32 (n_rows, 1)."""
        if targets.ndim != 1:
            raise ValueError(f"{name} targets must be 0 and 1 of shape (n_rows,), got {_describe(targets)}")
        return super().check(name, targets[:, None])

    def check_counts(self, training: NDArray[Any], validation: NDArray[Any] | None) -> None:
        """As for two classes, which these are."""
        Classification(2).check_counts(training[0], None if validation is None else validation[0])

    def predict(self, outputs: Tensor) -> Tensor:
        """Answers, bool (n_rows,)."""
        return super().predict(outputs)[:, 0]


class Regression:
    """Real numbers, one or several per row: squared error in units of the head's scale, averaged over the outputs.

    Parameters
    ----------
    head : gatewise.nn.Affine or Logit
        How counts become values, one scale and offset for each output; ``Affine.fitted(targets)`` spans the targets.

    Examples
    --------
    >>> import torch
    >>> task = Regression(Affine.fitted([[1.0, 10.0], [3.0, 90.0]]))
    >>> task.network(8, [64, 64], seed=0)(torch.rand(5, 8)).shape
    torch.Size([5, 2])
    """

    score_name = "mse"
    maximize = False
    label_smoothing = 0.0

    def __init__(self, head: Affine) -> None:
        self.head, self._scale = head, head.scale

    @property
    def loss_name(self) -> LossName | None:
        """Affine heads can be undone in the targets."""
        return "squared_error" if type(self.head) is Affine else None

    def __repr__(self) -> str:
        return f"Regression({self.head})"

    @property
    def groups(self) -> int:
        """Groups of the network's outputs."""
        return self.head.groups

    def network(self, in_features: int, widths: Sequence[int], **options: Any) -> Sequential:
        """`gatewise.nn.logic_network` with a group for each output, followed by the head."""
        share_of_one = widths[-1] / self.groups
        return Sequential(
            logic_network(in_features, widths, self.groups, tau=share_of_one, **options), copy.deepcopy(self.head)
        )

    def check(self, name: str, targets: NDArray[Any]) -> NDArray[np.float32]:
        """Targets as the loss takes them, float32 (n_rows, groups)."""
        columns = targets[:, None] if targets.ndim == 1 else targets
        if columns.shape[1] != self.groups or columns.dtype.kind not in "biuf":
            rule = f"numbers, {self.groups} per row as the head has"
            raise ValueError(f"{name} targets must be {rule}, got {_describe(targets)}")
        values = columns.astype(np.float32)
        _refuse_values(f"{name} targets must be finite", ~np.isfinite(values), columns)
        return values

    def count(self, targets: NDArray[Any], weights: NDArray[Any] | None = None) -> NDArray[Any]:
        """Sums over the rows of weights, weighted targets and weighted squares of targets, (3, groups)."""
        offset, scale = (each.cpu().numpy() for each in (self.head.offset, self.head.scale))
        shares = (targets - offset) / scale.astype(np.float64)
        each = np.ones(len(targets)) if weights is None else weights.astype(np.float64)
        return np.stack([each @ shares**power for power in range(3)])

    def baseline(self, counts: NDArray[Any]) -> float:
        """Squared error of the mean, averaged over outputs: their variance."""
        n_rows, sums, squares = counts
        return float((squares / n_rows - (sums / n_rows) ** 2).mean())

    def check_counts(self, training: NDArray[Any], validation: NDArray[Any] | None) -> None:
        """Any finite targets will do."""

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Squared error, averaged over outputs, (n_rows,)."""
        return self._errors(outputs, y).square().mean(1)

    def native_part(self, net: Module) -> Module:
        """The network below the head, if it has the head of this task."""
        *below, head = net if isinstance(net, Sequential) else [net]
        return below[0] if len(below) == 1 and self.head.equals(head) else net

    def native_targets(self, y: Tensor) -> Tensor:
        """The shares that the head would give these values for."""
        return (y - self.head.offset.to(y.device)) / self.head.scale.to(y.device)

    def score(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Squared error, averaged over outputs, (n_rows,)."""
        return self._errors(outputs, y).double().square().mean(1)

    def predict(self, outputs: Tensor) -> Tensor:
        """Values, float32 (n_rows, groups)."""
        return outputs

    def _errors(self, outputs: Tensor, y: Tensor) -> Tensor:
        place = outputs.device
        if self._scale.device != place:  # once, and not at every step
            self._scale = self.head.scale.to(place)
        return (outputs - y) / self._scale


Task = Classification | MultiLabel | Regression


def _describe(targets: NDArray[Any]) -> str:
    return f"{targets.dtype} of shape {targets.shape}"


def _refuse_values(rule: str, wrong: NDArray[np.bool_], targets: NDArray[Any]) -> None:
    if wrong.any():
        row = np.argwhere(wrong)[0]
        raise ValueError(f"{rule}, got {targets[tuple(row)]} at row {row[0]}")
