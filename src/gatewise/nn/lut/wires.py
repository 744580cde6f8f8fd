"""Which wires tables read: drawn and fixed, or chosen among candidates.

In: widths, a seed, or arrays of the user. Out: int32 arrays whose first axis is the pin of a table.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gatewise.wiring import Candidates, random_wiring


def fix_wires(wiring: Any, k: int, seed: int, position: int, in_features: int, out_features: int) -> NDArray[np.int32]:
    """The wires of every table, (k, out_features): those given, or random ones, all about equally often.

    Examples
    --------
    >>> np.bincount(fix_wires(None, 3, 7, 0, 6, 4).ravel()).tolist()
    [2, 2, 2, 2, 2, 2]
    """
    if wiring is not None:
        return _check("wiring", wiring, (k, out_features), in_features)
    n_pairs = -(-k * out_features // 2)
    pairs = np.stack(random_wiring(seed, position, in_features=in_features, out_features=n_pairs), axis=1)
    wires = pairs.reshape(-1)[: k * out_features].reshape(out_features, k)
    for table in np.flatnonzero(_repeat(wires)):  # a few, where one round of dealing ended and the next began
        wires[table] = _part(wires[table], in_features)
    return np.ascontiguousarray(wires.T)


def draw_candidates(
    candidates: Candidates, k: int, seed: int, position: int, in_features: int, out_features: int, draw: int
) -> NDArray[np.int32]:
    """Candidates of k pins, (k, out_features, n_candidates): draws of two pins each, one after the other.

    Examples
    --------
    >>> from gatewise.wiring import RandomCandidates
    >>> draw_candidates(RandomCandidates(4), 3, 7, 0, in_features=9, out_features=5, draw=0).shape
    (3, 5, 4)
    """
    n_pairs = -(-k // 2)
    draws = range(draw * n_pairs, (draw + 1) * n_pairs)
    shape = {"in_features": in_features, "out_features": out_features}
    return np.concatenate([candidates(seed, position, **shape, draw=each) for each in draws])[:k]


def check_candidates(candidates: Any, k: int, in_features: int, out_features: int) -> NDArray[np.int32]:
    """A copy of candidates that are integers of that shape and range.

    Examples
    --------
    >>> check_candidates(np.zeros((3, 1, 2), int), 3, in_features=4, out_features=1).shape
    (3, 1, 2)
    """
    return _check("candidates", candidates, (k, out_features, -1), in_features)


def pick_wires(candidates: Tensor, logits: Tensor) -> Tensor:
    """The most probable candidate of each pin, (k, n): the first on ties, and none of a pin before if there is another.

    Parameters
    ----------
    candidates, logits : (k, n, n_candidates)

    Examples
    --------
    >>> pick_wires(torch.tensor([[[4, 5]], [[4, 6]]]), torch.tensor([[[1.0, 0.0]], [[9.0, 0.0]]])).tolist()
    [[4], [6]]
    """
    logits = logits.detach()
    wires = candidates.gather(-1, logits.argmax(-1, keepdim=True))[..., 0]
    for pin in range(1, len(wires)):
        is_taken = (wires[pin] == wires[:pin]).any(0)
        if is_taken.device.type == "cpu" and not bool(is_taken.any()):  # elsewhere, to ask takes longer than to choose
            continue
        is_open = (candidates[pin, :, :, None] != wires[:pin].T[:, None]).all(-1)
        is_open |= ~is_open.any(-1, keepdim=True)
        place = torch.where(is_open, logits[pin], -torch.inf).argmax(-1, keepdim=True)
        wires[pin] = candidates[pin].gather(-1, place)[:, 0]
    return wires


def _check(name: str, given: Any, shape: tuple[int, ...], in_features: int) -> NDArray[np.int32]:
    """A copy of integers of that shape, -1 for any length but 0, that are inputs of the layer."""
    array = np.asarray(given)
    has_shape = array.ndim == len(shape) and all(
        n == most or most < 0 < n for n, most in zip(array.shape, shape, strict=True)
    )
    if array.dtype.kind not in "iu" or not has_shape:
        rule = f"({', '.join('at least 1' if n < 0 else str(n) for n in shape)})"
        raise ValueError(f"{name} must be integers of shape {rule}, got {array.dtype} of shape {array.shape}")
    wrong = np.argwhere((array < 0) | (array >= in_features))
    if len(wrong):
        got = f"{array[tuple(wrong[0])]} at pin {wrong[0][0]} of table {wrong[0][1]}"
        raise ValueError(f"{name} must be in 0..{in_features - 1}, the inputs of the layer, got {got}")
    return np.array(array, np.int32)


def _repeat(wires: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which tables read a wire twice, of (n, k)."""
    ordered = np.sort(wires, axis=1)
    repeated: NDArray[np.bool_] = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    return repeated


def _part(wires: NDArray[np.int32], in_features: int) -> NDArray[np.int32]:
    """The wires of a table, each that it read before replaced by the next one that it does not read."""
    parted: list[int] = []
    for wire in wires.tolist():
        while wire in parted:
            wire = (wire + 1) % in_features
        parted.append(wire)
    return np.array(parted, np.int32)
