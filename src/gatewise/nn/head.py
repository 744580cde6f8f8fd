"""What stands behind the last layer: sums of groups, and for regressions the step to a value in the target's unit.

In: values in [0, 1], (..., features). Out: one score per group; `Affine` and `Logit` read such scores as the share of
true outputs, which they are if tau is the number of features per group. All of it is saved with the network, and
`discretize` leaves it out.
"""

import math
from typing import Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from gatewise.heads import LOGIT_MARGIN


class GroupSum(nn.Module):
    """Sums of equal consecutive groups of features, divided by tau, plus beta.

    Parameters
    ----------
    groups : int
        Classes, or outputs of a regression.
    tau : float, optional
        By default 1.42 sqrt(k) / (ln(groups - 1) + 0.7) for k features per group, which keeps the softmax of random
        networks well scaled; a single group has no such rule and needs a tau.
    beta : float

    Examples
    --------
    >>> GroupSum(2, tau=1.0)(torch.tensor([[1.0, 1.0, 0.0, 1.0]])).tolist()
    [[2.0, 1.0]]
    """

    def __init__(self, groups: int, tau: float | None = None, beta: float = 0.0) -> None:
        super().__init__()
        if groups < 1:
            raise ValueError(f"groups must be at least 1, got {groups}")
        if tau is not None and not tau > 0:
            raise ValueError(f"tau must be positive, got {tau}")
        if tau is None and groups == 1:
            raise ValueError("tau must be given for a single group, got None")
        self.groups, self.tau, self.beta = groups, tau, beta

    def temperature(self, features: int) -> float:
        """tau for that many features."""
        return self.tau or 1.42 * math.sqrt(features / self.groups) / (math.log(self.groups - 1) + 0.7)

    def check(self, features: int) -> None:
        """Raise ValueError unless the groups divide the features."""
        if features % self.groups:
            raise ValueError(f"groups must divide the {features} features, got {self.groups}")

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., features) -> (..., groups)."""
        self.check(x.shape[-1])
        return x.unflatten(-1, (self.groups, -1)).sum(-1) / self.temperature(x.shape[-1]) + self.beta

    def get_extra_state(self) -> Tensor:
        """tau, 0 for the rule, and beta: what the `state_dict` holds of a head without weights."""
        return torch.tensor([self.tau or 0.0, self.beta], dtype=torch.float64, device="cpu")

    def set_extra_state(self, state: Tensor) -> None:
        """Take over what `get_extra_state` gave."""
        tau, self.beta = state.tolist()
        self.tau = tau or None

    def extra_repr(self) -> str:
        return f"groups={self.groups}, tau={self.tau}, beta={self.beta}"


class Affine(nn.Module):
    """offset + scale * share: for m features per group, the paper's tau = m / scale and beta = offset, one per group.

    Parameters
    ----------
    scale, offset : float, or one float for each group
        Every scale is positive.

    Examples
    --------
    >>> Affine([10.0, 1.0], [5.0, 0.0])(torch.tensor([[0.5, 0.25]])).tolist()
    [[10.0, 0.25]]
    """

    scale: Tensor
    offset: Tensor

    def __init__(self, scale: ArrayLike, offset: ArrayLike) -> None:
        super().__init__()
        scales, offsets = np.broadcast_arrays(np.atleast_1d(scale), np.atleast_1d(offset))
        if scales.ndim != 1 or not (np.isfinite(scales).all() and np.isfinite(offsets).all() and (scales > 0).all()):
            raise ValueError(f"scale must be positive, offset finite, one per group, got {scale!r} and {offset!r}")
        self.register_buffer("scale", torch.tensor(scales, dtype=torch.float32))
        self.register_buffer("offset", torch.tensor(offsets, dtype=torch.float32))

    @classmethod
    def fitted(cls, targets: ArrayLike) -> Self:
        """The head that reaches every target, from the least at share 0 to the greatest at share 1.

        Parameters
        ----------
        targets : (n_rows,) or (n_rows, groups)

        Examples
        --------
        >>> Affine.fitted([2.0, 3.0, 6.0])
        Affine(scale=[4.0], offset=[2.0])
        """
        columns = _columns(targets)
        return cls(_nonzero(np.ptp(columns, 0)), columns.min(0))

    @property
    def groups(self) -> int:
        """Outputs of the regression."""
        return len(self.scale)

    def forward(self, shares: Tensor) -> Tensor:
        """shares: (..., groups) -> (..., groups)."""
        return shares * self.scale + self.offset

    def equals(self, other: nn.Module) -> bool:
        """Whether the other is the same function: of the same class, with the same numbers.

        Examples
        --------
        >>> Affine(1.0, 0.0).equals(Affine(1.0, 0.0)), Affine(1.0, 0.0).equals(Logit(1.0, 0.0))
        (True, False)
        """
        if not isinstance(other, Affine) or type(other) is not type(self):
            return False
        mine, theirs = ([head.scale.cpu(), head.offset.cpu()] for head in (self, other))
        return all(torch.equal(x, y) for x, y in zip(mine, theirs, strict=True))

    def extra_repr(self) -> str:
        return f"scale={self.scale.tolist()}, offset={self.offset.tolist()}"


class Logit(Affine):
    """offset + scale * logit(share), which covers nearly all real numbers.

    The logit is infinite where all outputs of a group agree, so shares are first drawn into [0.001, 0.999].

    Examples
    --------
    >>> [round(value, 2) for value in Logit(1.0, 0.0)(torch.tensor([0.5, 1.0])).tolist()]
    [0.0, 6.91]
    """

    @classmethod
    def fitted(cls, targets: ArrayLike) -> Self:
        """The head that gives the mean of the targets at share 1/2, and their deviation as its unit.

        Parameters
        ----------
        targets : (n_rows,) or (n_rows, groups)

        Examples
        --------
        >>> Logit.fitted([1.0, 5.0])
        Logit(scale=[2.0], offset=[3.0])
        """
        columns = _columns(targets)
        return cls(_nonzero(columns.std(0)), columns.mean(0))

    def forward(self, shares: Tensor) -> Tensor:
        """shares: (..., groups) -> (..., groups)."""
        return super().forward(torch.logit(LOGIT_MARGIN + (1 - 2 * LOGIT_MARGIN) * shares))


def _columns(targets: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(targets, np.float64)
    if array.ndim not in (1, 2) or not array.size or not np.isfinite(array).all():
        raise ValueError(f"targets must be finite, of shape (n_rows,) or (n_rows, groups), got shape {array.shape}")
    return array.reshape(len(array), -1)


def _nonzero(scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 for targets that are all equal."""
    return np.where(scale > 0, scale, 1.0)
