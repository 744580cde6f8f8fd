"""Heads of regressions: from the share of true outputs in a group to a value in the unit of its target.

In: shares in [0, 1], (..., groups), as a GroupSum gives whose tau is the number of outputs a group. Out: values of the
same shape. A head follows the GroupSum, is saved with the network, and `discretize` leaves it out, as it does tau.
"""

from typing import Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from gatewise.heads import LOGIT_MARGIN


class Affine(nn.Module):
    """offset + scale * share: for m outputs a group, the paper's tau = m / scale and beta = offset, one for each group.

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
            raise ValueError(f"scale must be positive, offset finite, one a group, got {scale!r} and {offset!r}")
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
