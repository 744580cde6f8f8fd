"""Augmentation: functions of a batch and a generator that give a batch of the same shape, called at every step."""

import torch
from torch import Tensor


class Shift:
    """Moves every image by a few pixels at random; what comes in at the border is 0.

    Parameters
    ----------
    shape : (height, width) or (channels, height, width)
        Of the image that a row holds.
    pixels : int
        Largest distance, in each direction.

    Examples
    --------
    >>> move = Shift((1, 3), pixels=1)
    >>> rows = torch.eye(3, dtype=torch.bool)
    >>> move(rows, torch.Generator().manual_seed(0)).shape
    torch.Size([3, 3])
    """

    def __init__(self, shape: tuple[int, ...], pixels: int = 1) -> None:
        if len(shape) not in (2, 3) or min(shape) < 1:
            raise ValueError(f"shape must be (height, width) or (channels, height, width), got {shape}")
        if pixels < 0:
            raise ValueError(f"pixels must be at least 0, got {pixels}")
        self.shape, self.pixels = tuple(shape), pixels

    def __call__(self, x: Tensor, generator: torch.Generator) -> Tensor:
        """x: (n, channels * height * width), shifted."""
        n, pixels = len(x), self.pixels
        channels, height, width = (1, *self.shape)[-3:]
        if x.shape[1] != channels * height * width:
            raise ValueError(f"rows must hold images of shape {self.shape}, got {x.shape[1]} features")
        padded = x.new_zeros(n, channels, height + 2 * pixels, width + 2 * pixels)
        padded[:, :, pixels : pixels + height, pixels : pixels + width] = x.view(n, channels, height, width)
        windows = padded.unfold(2, height, 1).unfold(3, width, 1)  # a view: every window of every image
        down, right = torch.randint(2 * pixels + 1, (2, n), generator=generator)
        return windows[torch.arange(n), :, down, right].reshape(n, -1)

    def __repr__(self) -> str:
        return f"Shift({self.shape}, pixels={self.pixels})"
