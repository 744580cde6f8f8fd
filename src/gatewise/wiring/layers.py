"""What the wirings share: the form that all of them have, the check of their arguments, the key of a layer."""

import warnings
from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import MAX_SEED, as_integer
from gatewise.circuit import MAX_WIRES
from gatewise.wiring.permutation import Words, mix

MAX_LAYER = 2**32 - 1
MAX_SIDE = 2**20

Operands: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32]]


class Wiring(Protocol):
    """Tells the operands ``a`` and ``b`` of every gate of a layer, as int32 positions in the layer before it."""

    def __call__(self, seed: int, layer: int, *, in_features: int, out_features: int) -> Operands:
        """See `random_wiring`."""


def key_of_layer(seed: int, layer: int, in_features: int, out_features: int) -> tuple[Words, int, int]:
    """The key of a layer, shape (1,), the number of its wires and of its gates, all checked.

    Examples
    --------
    >>> key, n_wires, n_gates = key_of_layer(7, 0, 784, 8000)
    >>> n_wires, n_gates
    (784, 8000)
    """
    seed = as_integer("seed", seed, 0, MAX_SEED)
    layer = as_integer("layer", layer, 0, MAX_LAYER)
    n_wires = as_integer("in_features", in_features, 1, MAX_WIRES)
    n_gates = as_integer("out_features", out_features, 0, MAX_WIRES)
    return mix(mix(np.array([seed], np.uint64)) ^ np.uint64(layer)), n_wires, n_gates


def as_image_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of an image, checked.

    Examples
    --------
    >>> as_image_shape([1, 28, 28])
    (1, 28, 28)
    """
    if not isinstance(shape, tuple | list) or len(shape) != 3:
        raise ValueError(f"shape must be (channels, rows, columns), got {shape!r:.60}")
    return tuple(as_integer(f"shape[{i}]", side, 1, MAX_SIDE) for i, side in enumerate(shape))


def warn_unread(in_features: int, out_features: int) -> None:
    """Warn if a layer has too few gates to read all its inputs; its result cannot depend on those left out.

    Parameters
    ----------
    in_features, out_features : int

    Examples
    --------
    >>> warn_unread(784, 392)
    """
    n_unread = in_features - 2 * out_features
    if n_unread > 0:
        warnings.warn(
            f"{out_features} gates read at most {2 * out_features} of {in_features} inputs: {n_unread} inputs are "
            f"not read and cannot matter; all are read from {-(-in_features // 2)} gates on",
            stacklevel=3,
        )
