"""Augmentation: functions of a batch and a generator that give a batch of the same shape, called at every step.

Rows hold images as `Encoder.images` lays them out: channels, rows and columns of pixels, and the thresholds of a pixel
next to each other.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

Augment: TypeAlias = Callable[[Tensor, torch.Generator], Tensor]

KNOT_DISTANCE = 7  # pixels between points that `Warp` bends an image by


class Shift:
    """Moves every image by a few pixels at random; what comes in at the border is 0.

    Parameters
    ----------
    shape : (height, width) or (channels, height, width)
        Of the image that a row holds.
    pixels : int
        Largest distance, in each direction.
    n_thresholds : int
        Bits a value.

    Examples
    --------
    >>> move = Shift((1, 3), pixels=1)
    >>> rows = torch.eye(3, dtype=torch.bool)
    >>> move(rows, torch.Generator().manual_seed(0)).shape
    torch.Size([3, 3])
    """

    def __init__(self, shape: tuple[int, ...], pixels: int = 1, n_thresholds: int = 1) -> None:
        if pixels < 0:
            raise ValueError(f"pixels must be at least 0, got {pixels}")
        self.shape, self.pixels, self.n_thresholds = tuple(shape), pixels, n_thresholds
        self._channels, self._height, self._width = _check_shape(shape, n_thresholds)

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """x: (n, channels * height * width * n_thresholds), shifted."""
        pixels, height, width = self.pixels, self._height, self._width
        images = _as_images(x, (self._channels, height, width, self.n_thresholds))
        n, channels, *_, bits = images.shape
        padded = x.new_zeros(n, channels, height + 2 * pixels, width + 2 * pixels, bits)
        padded[:, :, pixels : pixels + height, pixels : pixels + width] = images
        # A view: every window of every image. A window keeps whole rows of pixels together, thresholds included.
        windows = padded.flatten(3).unfold(2, height, 1).unfold(3, width * bits, bits)
        down, right = torch.randint(2 * pixels + 1, (2, n), generator=generator)
        return windows[torch.arange(n), :, down, right].reshape(n, -1)

    def __repr__(self) -> str:
        return f"Shift({self.shape}, pixels={self.pixels}, n_thresholds={self.n_thresholds})"


class Mirror:
    """Exchanges left and right in every other image, at random.

    Parameters
    ----------
    shape : (height, width) or (channels, height, width)
        Of the image that a row holds.
    n_thresholds : int
        Bits a value.

    Examples
    --------
    >>> rows = torch.tensor([[1, 0, 0]]).repeat(4, 1)
    >>> Mirror((1, 3))(rows, torch.Generator().manual_seed(0)).tolist()
    [[1, 0, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0]]
    """

    def __init__(self, shape: tuple[int, ...], n_thresholds: int = 1) -> None:
        self.shape, self.n_thresholds = tuple(shape), n_thresholds
        self._image = (*_check_shape(shape, n_thresholds), n_thresholds)

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """x: (n, channels * height * width * n_thresholds), about half of the rows mirrored."""
        images = _as_images(x, self._image).clone()
        mirrored = torch.randint(2, (len(x),), generator=generator).bool()
        images[mirrored] = images[mirrored].flip(3)
        return images.flatten(1)

    def __repr__(self) -> str:
        return f"Mirror({self.shape}, n_thresholds={self.n_thresholds})"


class Warp:
    """Turns, stretches and bends every image at random, by an angle, sizes and a field of its own.

    A pixel's bits are counted, the counts are interpolated between neighboring pixels, and rounded. What comes in at
    the border is 0.

    Parameters
    ----------
    shape : (height, width) or (channels, height, width)
        Of the image that a row holds.
    degrees : float
        Largest angle, to either side.
    stretch : float
        Largest change of height and of width, as a share of them.
    bend : float
        Standard deviation, in pixels, by which points seven pixels apart move; those between them follow.
    n_thresholds : int
        Bits a value; each is set if all bits before it are.

    Examples
    --------
    >>> warp = Warp((3, 3), degrees=90.0)
    >>> rows = torch.tensor([[False, True, False] * 3])
    >>> warp(rows, torch.Generator().manual_seed(3)).int().view(3, 3)
    tensor([[0, 0, 0],
            [1, 1, 1],
            [0, 0, 0]], dtype=torch.int32)
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        *,
        degrees: float = 0.0,
        stretch: float = 0.0,
        bend: float = 0.0,
        n_thresholds: int = 1,
    ) -> None:
        for name, value, largest in (("degrees", degrees, 180), ("stretch", stretch, 0.9), ("bend", bend, math.inf)):
            if not 0 <= value <= largest:
                raise ValueError(f"{name} must be from 0 to {largest}, got {value}")
        self.shape, self.n_thresholds = tuple(shape), n_thresholds
        self.degrees, self.stretch, self.bend = degrees, stretch, bend
        self._image = (*_check_shape(shape, n_thresholds), n_thresholds)

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """x: (n, channels * height * width * n_thresholds), each row warped."""
        counts = _as_images(x, self._image).sum(4).float()
        places = self._draw_places(len(x), generator)
        moved = functional.grid_sample(counts, places, align_corners=False)
        bits = moved.unsqueeze(4) > torch.arange(self.n_thresholds) + 0.5
        return bits.flatten(1).to(x.dtype)

    def __repr__(self) -> str:
        how = f"degrees={self.degrees}, stretch={self.stretch}, bend={self.bend}"
        return f"Warp({self.shape}, {how}, n_thresholds={self.n_thresholds})"

    def _draw_places(self, n: int, generator: torch.Generator) -> Tensor:
        """Where each pixel comes from, (n, height, width, 2), as `grid_sample` counts: -1 to 1 across the image."""
        _, height, width, _ = self._image
        angle, across, down = 2 * torch.rand(3, n, generator=generator) - 1
        angle = angle * math.radians(self.degrees)
        across, down = 1 + self.stretch * across, 1 + self.stretch * down
        # Coordinates are shares of the sides, so that turning an image that is not a square must rescale them.
        rows = [angle.cos() * across, -angle.sin() * down * (height / width), torch.zeros(n)]
        rows += [angle.sin() * across * (width / height), angle.cos() * down, torch.zeros(n)]
        places = functional.affine_grid(torch.stack(rows, 1).view(n, 2, 3), [n, 1, height, width], align_corners=False)
        if self.bend == 0:
            return places
        knots = [-(-side // KNOT_DISTANCE) + 1 for side in (height, width)]
        field = self.bend * torch.randn(n, 2, *knots, generator=generator)
        field = functional.interpolate(field, (height, width), mode="bilinear", align_corners=True)
        return places + field.permute(0, 2, 3, 1) * torch.tensor([2 / width, 2 / height])


class Erase:
    """Blackens a rectangle of every other image, at random.

    Parameters
    ----------
    shape : (height, width) or (channels, height, width)
        Of the image that a row holds.
    pixels : int
        Largest side of the rectangle.
    n_thresholds : int
        Bits a value.

    Examples
    --------
    >>> rows = torch.ones(2, 3, dtype=torch.int64)
    >>> Erase((1, 3), pixels=2)(rows, torch.Generator().manual_seed(2)).tolist()
    [[1, 1, 1], [0, 0, 1]]
    """

    def __init__(self, shape: tuple[int, ...], pixels: int, n_thresholds: int = 1) -> None:
        self.shape, self.pixels, self.n_thresholds = tuple(shape), pixels, n_thresholds
        self._image = (*_check_shape(shape, n_thresholds), n_thresholds)
        if not 1 <= pixels <= max(self._image[1:3]):
            raise ValueError(f"pixels must be from 1 to the larger side of {self.shape}, got {pixels}")

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """x: (n, channels * height * width * n_thresholds), about half of the rows with a hole."""
        n, (_, height, width, _) = len(x), self._image
        erased = torch.randint(2, (n, 1), generator=generator).bool()
        inside = [self._draw_span(n, side, generator) for side in (height, width)]
        holes = (inside[0] & erased).unsqueeze(2) & inside[1].unsqueeze(1)
        return _as_images(x, self._image).masked_fill(holes[:, None, :, :, None], 0).flatten(1)

    def __repr__(self) -> str:
        return f"Erase({self.shape}, pixels={self.pixels}, n_thresholds={self.n_thresholds})"

    def _draw_span(self, n: int, side: int, generator: torch.Generator) -> Tensor:
        """Which rows, or columns, of each image are in its rectangle, (n, side)."""
        length = torch.randint(1, min(self.pixels, side) + 1, (n, 1), generator=generator)
        start = (torch.rand(n, 1, generator=generator) * (side - length + 1)).long()
        position = torch.arange(side)
        return (position >= start) & (position < start + length)


class Sometimes:
    """An augmentation of some of the rows only, drawn anew in every batch.

    Parameters
    ----------
    step : function of a batch and a generator
    share : float
        Probability that a row is changed.

    Examples
    --------
    >>> invert = Sometimes(lambda x, generator: 1 - x, share=0.5)
    >>> invert(torch.zeros(4, 1), torch.Generator().manual_seed(1)).flatten().tolist()
    [0.0, 1.0, 1.0, 0.0]
    """

    def __init__(self, step: Augment, share: float) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"share must be in [0, 1], got {share}")
        self.step, self.share = step, share

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """x: (n, features), some of its rows as the step gives them."""
        row_idx = (torch.rand(len(x), generator=generator) < self.share).nonzero()[:, 0]
        changed = x.clone()
        changed[row_idx] = self.step(x[row_idx], generator)
        return changed

    def __repr__(self) -> str:
        return f"Sometimes({self.step}, share={self.share})"


class Chain:
    """Several augmentations, one after the other.

    Parameters
    ----------
    *steps : functions of a batch and a generator

    Examples
    --------
    >>> Chain(Shift((28, 28)), Mirror((28, 28)))
    Chain(Shift((28, 28), pixels=1, n_thresholds=1), Mirror((28, 28), n_thresholds=1))
    """

    def __init__(self, *steps: Augment) -> None:
        self.steps = steps

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """What the last step gives."""
        for step in self.steps:
            x = step(x, generator)
        return x

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.steps))})"


def _check_shape(shape: tuple[int, ...], n_thresholds: int) -> tuple[int, int, int]:
    """Channels, height and width."""
    if len(shape) not in (2, 3) or min(shape) < 1:
        raise ValueError(f"shape must be (height, width) or (channels, height, width), got {shape}")
    if n_thresholds < 1:
        raise ValueError(f"n_thresholds must be at least 1, got {n_thresholds}")
    channels, height, width = (1, *shape)[-3:]
    return channels, height, width


def _as_images(x: Tensor, image: tuple[int, ...]) -> Tensor:
    """The rows as a view (n, channels, height, width, n_thresholds)."""
    channels, height, width, n_thresholds = image
    if x.shape[1] != channels * height * width * n_thresholds:
        raise ValueError(
            f"rows must hold images of shape {(channels, height, width)} with {n_thresholds} bits a value, "
            f"got {x.shape[1]} features"
        )
    return x.view(len(x), *image)
