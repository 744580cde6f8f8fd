"""Augmentation: what moves, what stays together, and what is refused."""

import math
from typing import Any

import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch

from gatewise import train


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def make_counts() -> torch.Tensor:
    """Images of two channels whose pixels are from 0 to 3."""
    return torch.randint(4, (50, 2, 4, 5), generator=seeded())


def to_bits(counts: torch.Tensor) -> torch.Tensor:
    """Rows of three thresholds a pixel."""
    return torch.stack([counts > threshold for threshold in range(3)], 4).flatten(1)


@pytest.mark.parametrize("shape", [(4, 5), (2, 4, 5)])
@pytest.mark.parametrize("dtype", [torch.bool, torch.float32])
def test_shift_moves_images(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    images = (torch.rand(200, *shape, generator=seeded()) > 0.5).to(dtype)
    moved = train.Shift(shape, pixels=2)(images.flatten(1), seeded(1)).view(images.shape)
    assert moved.dtype == dtype
    padded = torch.nn.functional.pad(images.float(), (2, 2, 2, 2)).to(dtype)
    seen = set()
    for image, wide in zip(moved, padded, strict=True):
        places = [
            (row, column)
            for row in range(5)
            for column in range(5)
            if torch.equal(image, wide[..., row : row + 4, column : column + 5])
        ]
        assert places
        seen.add(places[0])
    assert len(seen) == 25


def test_thresholds_of_a_pixel_move_together() -> None:
    images = make_counts()
    wide, narrow = {"shape": (2, 4, 5), "n_thresholds": 3}, {"shape": (2, 4, 5)}
    both = [train.Chain(train.Shift(**kind, pixels=2), train.Mirror(**kind)) for kind in (wide, narrow)]
    changed, expected = both[0](to_bits(images), seeded(1)), both[1](images.flatten(1), seeded(1))
    assert torch.equal(changed.view(50, -1, 3).sum(2), expected)
    assert not torch.equal(expected, images.flatten(1))


def test_a_warp_of_nothing_changes_nothing() -> None:
    bits = to_bits(make_counts())
    still = train.Warp((2, 4, 5), n_thresholds=3)(bits, seeded(1))
    assert torch.equal(still, bits)
    floats = train.Warp((2, 4, 5), n_thresholds=3)(bits.float(), seeded(1))
    assert torch.equal(floats, bits.float())


@pytest.mark.parametrize("how", [{"degrees": 40.0}, {"stretch": 0.5}, {"bend": 1.0}])
def test_warped_pixels_stay_thermometers(how: dict[str, float]) -> None:
    bits = to_bits(make_counts())
    warped = train.Warp((2, 4, 5), n_thresholds=3, **how)(bits, seeded(1))
    assert torch.equal(to_bits(warped.view(50, 2, 4, 5, 3).sum(4)), warped)
    assert (warped != bits).any(1).float().mean() > 0.8  # small angles change nothing
    assert torch.equal(train.Warp((2, 4, 5), n_thresholds=3, **how)(bits, seeded(1)), warped)


def test_warp_turns_by_the_angle_drawn() -> None:
    height, width = 21, 41
    bar = torch.zeros(height, width, dtype=torch.bool)
    bar[10, 10:31] = True  # 21 pixels long, through the center
    rows = bar.flatten().expand(300, -1)
    turned = train.Warp((height, width), degrees=30.0)(rows, seeded(1)).view(300, height, width)
    slopes = []
    for image in turned:
        row, column = (position.double() for position in image.nonzero(as_tuple=True))
        row, column = row - row.mean(), column - column.mean()
        slopes.append(math.degrees(math.atan2(float(row @ column), float(column @ column))))
        assert 1.6 * 21 > image.sum() > 0.6 * 21  # the bar keeps its length, though the image is no square
    angles = torch.tensor(slopes)
    assert 26 < angles.max() < 31
    assert -31 < angles.min() < -26
    assert abs(float(angles.mean())) < 3


def test_warp_stretches_to_both_sides() -> None:
    square = torch.zeros(40, 40, dtype=torch.bool)
    square[10:30, 10:30] = True
    rows = square.flatten().expand(300, -1)
    images = train.Warp((40, 40), stretch=0.25)(rows, seeded(1)).view(300, 40, 40)
    for sides in (images.any(1).sum(1), images.any(2).sum(1)):
        assert 15 <= sides.min() <= 17
        assert 25 <= sides.max() <= 27
    assert (images.any(1).sum(1) != images.any(2).sum(1)).any()


def test_erase_blackens_one_rectangle_in_half_of_the_images() -> None:
    rows = torch.ones(400, 2 * 6 * 7 * 3, dtype=torch.bool)
    images = train.Erase((2, 6, 7), pixels=4, n_thresholds=3)(rows, seeded(1)).view(400, 2, 6, 7, 3)
    holes = ~images
    assert torch.equal(holes, holes[:, :1, :, :, :1].expand_as(holes))  # all channels and thresholds of a pixel
    flat = holes[:, 0, :, :, 0]
    down, across = flat.any(2), flat.any(1)
    assert torch.equal(flat, down[:, :, None] & across[:, None, :])
    erased = down.any(1)
    assert 160 < erased.sum() < 240
    assert set(down[erased].sum(1).tolist()) == set(across[erased].sum(1).tolist()) == {1, 2, 3, 4}
    assert down.any(0).all()
    assert across.any(0).all()
    assert rows.all()  # what was passed in is as it was


def test_some_rows_are_changed_and_others_are_not() -> None:
    rows = torch.zeros(1000, 4, dtype=torch.bool)
    some = train.Sometimes(lambda x, generator: ~x, share=0.3)
    changed = some(rows, seeded(1))
    assert torch.equal(changed.any(1), changed.all(1))
    assert 250 < changed.all(1).sum() < 350
    assert not rows.any()
    assert not torch.equal(some(rows, seeded(2)), changed)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train.Shift((3,)), "shape must be"),
        (lambda: train.Shift((3, 3), pixels=-1), "pixels must be at least 0"),
        (lambda: train.Mirror((3, 3), n_thresholds=0), "n_thresholds must be at least 1"),
        (lambda: train.Shift((3, 3))(torch.zeros(1, 8), seeded()), r"shape \(1, 3, 3\) .*, got 8"),
        (lambda: train.Warp((3, 3), degrees=200.0), "degrees must be from 0 to 180, got 200.0"),
        (lambda: train.Warp((3, 3), stretch=1.0), "stretch must be from 0 to 0.9, got 1.0"),
        (lambda: train.Warp((3, 3), bend=-1.0), "bend must be from 0 to inf, got -1.0"),
        (lambda: train.Erase((3, 3), pixels=4), r"pixels must be from 1 to the larger side of \(3, 3\), got 4"),
        (lambda: train.Sometimes(train.Shift((3, 3)), share=1.5), r"share must be in \[0, 1\], got 1.5"),
        (lambda: train.Erase((3, 3), 1)(torch.zeros(1, 8), seeded()), r"shape \(1, 3, 3\) .*, got 8"),
    ],
)
def test_misuse_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
