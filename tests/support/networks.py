"""Layers of every kind, for tests of networks."""

import torch

from gatewise.nn import Gumbel, HardStraightThrough, Light, Residual, Soft, Softmax

PARAMETRIZATIONS = {
    "softmax": Softmax(),
    "residual": Softmax(initialization=Residual()),
    "subset": Softmax([1, 7, 8, 14]),
    "one operator": Softmax([6]),
    "light": Light(),
}
SAMPLINGS = {"soft": Soft, "hard": HardStraightThrough, "gumbel": Gumbel}


def seeded(seed: int = 0) -> torch.Generator:
    """A generator of its own for everything random in a test."""
    return torch.Generator().manual_seed(seed)
