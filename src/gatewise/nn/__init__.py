"""Differentiable logic gates in PyTorch: layers, what they are made of, and the step to a `Circuit`.

values in [0, 1] -> LogicLayer -> ... -> GroupSum -> loss;   discretize(network) -> Circuit
"""

try:
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("gatewise.nn needs torch: pip install 'gatewise[torch]'", name="torch") from error

from gatewise.nn.discretize import discretize, read_counts
from gatewise.nn.head import Affine, Logit
from gatewise.nn.layer import GroupSum, LogicLayer, LogicNetwork, logic_network, with_sampling
from gatewise.nn.parametrization import Light, Residual, Softmax, normal
from gatewise.nn.sampling import Gumbel, HardStraightThrough, Soft
from gatewise.nn.step import TrainStep

__all__ = [
    "Affine",
    "GroupSum",
    "Gumbel",
    "HardStraightThrough",
    "Light",
    "LogicLayer",
    "LogicNetwork",
    "Logit",
    "Residual",
    "Soft",
    "Softmax",
    "TrainStep",
    "discretize",
    "logic_network",
    "normal",
    "read_counts",
    "with_sampling",
]
