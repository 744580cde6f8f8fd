"""What answers are computed with from counts, where code has no library of mathematics.

In: a head. Out: numbers, stored instead of computed.
Invariant: they are those that `gatewise.heads` computes with.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gatewise.heads import Affine, Classes, Exponential, Logit


class Sums(NamedTuple):
    """Value k is ``shares[count] * scale[k] + offset[k]``; without `shares`, a share is count / group_size."""

    shares: list[float] | None
    scale: tuple[float, ...]
    offset: tuple[float, ...]


def tabulate(head: Affine) -> Sums:
    """What values of a regression are sums of.

    Examples
    --------
    >>> tabulate(Affine((2.0,), (1.0,), group_size=4))
    Sums(shares=None, scale=(2.0,), offset=(1.0,))
    """
    counts = np.arange(head.group_size + 1)[:, None]
    if isinstance(head, Logit):
        plain = replace(head, scale=(1.0,), offset=(0.0,))
        return Sums(plain.predict(counts).tolist(), head.scale, head.offset)
    if isinstance(head, Exponential):  # the whole answer
        return Sums(head.predict(counts).tolist(), (1.0,), (0.0,))
    return Sums(None, head.scale, head.offset)


def list_powers(head: Classes) -> list[float]:
    """exp(-2^j / tau), of which exp of any difference of scores is a product.

    Examples
    --------
    >>> [round(power, 3) for power in list_powers(Classes(("no", "yes"), tau=2.0, group_size=4))]
    [0.607, 0.368, 0.135]
    """
    powers: list[float] = np.exp(-(2.0 ** np.arange(head.group_size.bit_length())) / head.tau).tolist()
    return powers
