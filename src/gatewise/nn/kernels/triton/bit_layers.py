"""Layers on bits by kernels: rows packed on the device, layers of chosen gates, and sums of groups.

In: rows of 0 and 1, plans. Out: words of 32 rows, int32 (n, n_words), of every layer. The way back is that of `layers`,
where gradients are those of mixtures.
"""

import torch
from torch import Tensor

from gatewise.nn.kernels.triton import bits
from gatewise.nn.kernels.triton.layers import cut
from gatewise.nn.kernels.triton.plan import LayerPlan, device_of

WORD = 32  # rows
PACKED_FEATURES, FORWARD_GATES, COUNTED_GATES = 64, 32, 32  # of a program


def pack_rows(x: Tensor, words: Tensor) -> None:
    """Rows, (n_rows, n_features), anything but 0 for true, into words; bits of missing rows are 0."""
    (n_features, n_words), rows = words.shape, x.bool().contiguous().view(torch.uint8)
    with device_of(words):
        bits.pack_rows[cut(n_features, PACKED_FEATURES), n_words](
            rows, words, len(rows), n_features, n_words, FEATURES=PACKED_FEATURES
        )


def forward(plan: LayerPlan, words: Tensor, chosen: Tensor) -> Tensor:
    """The outputs of a layer; `chosen` are coefficients of gates, (n_gates, 4)."""
    n_words = words.shape[1]
    tile = min(16, 1 << (n_words - 1).bit_length())
    y = words.new_empty((plan.n_gates, n_words))
    grid = cut(plan.n_gates, FORWARD_GATES), cut(n_words, tile)
    with device_of(words):
        bits.forward_bits[grid](
            words, plan.a, plan.b, chosen, y, plan.n_gates, n_words, GATES=FORWARD_GATES, WORDS=tile
        )
    return y


def count_groups(words: Tensor, groups: int) -> Tensor:
    """How many of each group of wires are true in every row, float32 (groups, 32 n_words)."""
    n_wires, n_words = words.shape
    sums = torch.empty((groups, WORD * n_words), device=words.device)
    with device_of(words):
        bits.count_groups[groups, n_words](words, sums, n_wires // groups, n_words, GATES=COUNTED_GATES)
    return sums
