"""Native steps of gates that positions share, and of maxima: equal to autograd on formulas in plain torch."""

from dataclasses import dataclass

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from torch import Tensor

from gatewise import _native, nn
from gatewise.nn import functional
from gatewise.nn.kernels.native import current_pool

SHAPE, N_CHANNELS, N_GROUPS, N_ROWS = (2, 6, 7), 3, 4, 70
SOFTMAX = nn.Softmax(nn.NO_CONSTANTS, initialization=nn.Residual(2.0))


@dataclass
class Level:
    """Operands of all outputs, those of one gate together, and how many gates there are; none for a maximum."""

    a: np.ndarray
    b: np.ndarray
    n_gates: int


def make_levels(rng: np.random.Generator, stride: int) -> list[Level]:
    """Trees of three gates in windows of 3 x 3 with a border of zeros; pooling 2 x 2; gates of their own."""
    channels, height, width = SHAPE
    n_wires = channels * height * width
    height_out, width_out = (height - 1) // stride + 1, (width - 1) // stride + 1
    rows, columns = np.mgrid[:height_out, :width_out] * stride

    def tap() -> np.ndarray:
        channel, (dy, dx) = rng.integers(channels), rng.integers(-1, 2, 2)
        y, x = rows + dy, columns + dx
        is_inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        return np.where(is_inside, (channel * height + y) * width + x, n_wires)

    positions = height_out * width_out
    leaves = [Level(*(np.array([tap() for _ in range(2 * N_CHANNELS)]) for _ in "ab"), 2 * N_CHANNELS)]
    pairs = np.arange(2 * N_CHANNELS * positions).reshape(N_CHANNELS, 2, positions)
    images = np.arange(N_CHANNELS * positions).reshape(N_CHANNELS, height_out, width_out)
    across = images[:, :, : width_out // 2 * 2].reshape(N_CHANNELS, height_out, width_out // 2, 2)
    half = np.arange(across[..., 0].size).reshape(N_CHANNELS, height_out, width_out // 2)
    down = half[:, : height_out // 2 * 2].reshape(N_CHANNELS, height_out // 2, 2, width_out // 2)
    n_pooled = down[:, :, 0].size
    return [
        *leaves,
        Level(pairs[:, 0], pairs[:, 1], N_CHANNELS),
        Level(across[..., 0], across[..., 1], 0),
        Level(down[:, :, 0], down[:, :, 1], 0),
        Level(rng.integers(n_pooled, size=40), rng.integers(n_pooled, size=40), 40),
    ]


def evaluate_level(x: Tensor, level: Level, weight: Tensor, temperature: float) -> Tensor:
    """The definition: (n_rows, n_wires) -> (n_rows, n_outputs)."""
    x = torch.cat([x, x.new_zeros(len(x), 1)], 1)
    a, b = (x.index_select(1, torch.from_numpy(wires.reshape(-1))) for wires in (level.a, level.b))
    if not level.n_gates:
        return torch.where(a >= b, a, b)
    mixed, chosen = (
        each.repeat_interleave(level.a.size // level.n_gates, 0) for each in SOFTMAX.relax(weight, temperature)
    )
    return functional.apply_gates_on_bits(a, b, mixed, chosen)


def make_weights(levels: list[Level]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(5)
    return [SOFTMAX.initialize(level.n_gates, generator) if level.n_gates else torch.empty(14, 0) for level in levels]


def make_bit_step(levels: list[Level], weights: list[Tensor], frozen: list[bool], n_inputs: int) -> _native.BitStep:
    return _native.BitStep(
        n_inputs,
        wires=[(*(w.reshape(-1).astype(np.int32) for w in (each.a, each.b)), each.n_gates) for each in levels],
        pins=[None] * len(levels),
        windows=[None] * len(levels),
        n_groups=N_GROUPS,
        gates=np.array(SOFTMAX.operators, np.uint8),
        weights=[weight.numpy() for weight in weights],
        first=[np.zeros(weight.shape, np.float32) for weight in weights],
        second=[np.zeros(weight.shape, np.float32) for weight in weights],
        scales=[1.0] * len(levels),
        frozen=frozen,
    )


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("frozen", [(), (0,), (0, 1), (4,)])
def test_step_on_bits_equals_autograd(stride: int, frozen: tuple[int, ...]) -> None:
    levels = make_levels(np.random.default_rng(0), stride)
    n_inputs = int(np.prod(SHAPE))
    weights, expected = make_weights(levels), [each.requires_grad_() for each in make_weights(levels)]
    generator = torch.Generator().manual_seed(2)
    x = torch.randint(2, (N_ROWS, n_inputs), generator=generator)
    y = torch.randint(N_GROUPS, (N_ROWS,), generator=generator)
    trained = [w for i, w in enumerate(expected) if w.numel() and i not in frozen]
    # A large epsilon keeps Adam from making a sign of gradients that are rounding errors.
    adam = torch.optim.Adam(trained, lr=0.3, eps=1e-2)
    step = make_bit_step(levels, weights, [i in frozen for i in range(len(levels))], n_inputs)
    for i in range(5):
        values = x.float()
        for level, weight in zip(levels, expected, strict=True):
            values = evaluate_level(values, level, weight, temperature=2.0)
        loss = torch.nn.functional.cross_entropy(values.unflatten(1, (N_GROUPS, -1)).sum(2) / 3, y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        target = _native.Loss.cross_entropy(y.numpy(), 0.0, head=(1 / 3, 0.0), weight=None)
        settings = (0.3, 0.9, 0.999, 1e-2, i + 1)
        own = step.run(x.bool().numpy(), target, temperature=2.0, adam=settings, pool=current_pool())
        assert own == pytest.approx(loss.item(), rel=1e-5)
    for weight, of_torch in zip(weights, expected, strict=True):
        torch.testing.assert_close(weight, of_torch.detach(), rtol=1e-3, atol=2e-4)
    moved = [not torch.equal(weight, before) for weight, before in zip(weights, make_weights(levels), strict=True)]
    assert moved == [bool(level.n_gates) and i not in frozen for i, level in enumerate(levels)]


def test_bad_levels_are_refused() -> None:
    wires, weights = np.array([0, 3], np.int32), [torch.zeros(14, 1)]
    with pytest.raises(ValueError, match="operands must be as many for every gate"):
        make_bit_step([Level(wires, wires, 4)], weights, [False], 3)
    with pytest.raises(ValueError, match="operands must index the layer before"):
        make_bit_step([Level(wires + 1, wires, 1)], weights, [False], 3)
    with pytest.raises(ValueError, match="weights must have one column per gate"):
        make_bit_step([Level(np.repeat(wires, 2), np.repeat(wires, 2), 2)], weights, [False], 3)
