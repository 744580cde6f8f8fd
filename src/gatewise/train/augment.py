"""Augmentation: functions of a batch and a generator that give a batch of the same shape, called at every step.

Rows hold images as `Encoder.images` lays them out: channels, rows and columns of pixels, and the thresholds of a pixel
next to each other.
"""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

Augment: TypeAlias = Callable[[Tensor, torch.Generator], Tensor]


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
