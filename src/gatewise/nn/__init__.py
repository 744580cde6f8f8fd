"""Differentiable logic gates in PyTorch: layers, what they are made of, and the step to a `Circuit`.

values in [0, 1] -> LogicLayer -> ... -> GroupSum -> loss;   discretize(network) -> Circuit
"""

# ruff: noqa: E402 (a package that is missing is named before anything imports it)

from gatewise.extras import require

require("torch", "torch", needed_by="gatewise.nn")

from gatewise.nn.discretize import discretize, discretize_seeded, make_head, read_counts
from gatewise.nn.head import Affine, GroupSum, Logit
from gatewise.nn.layer import LogicLayer
from gatewise.nn.learned import LearnedLayer
from gatewise.nn.network import LogicNetwork, logic_network, with_sampling
from gatewise.nn.parametrization import NO_CONSTANTS, Light, Residual, Softmax, normal
from gatewise.nn.relaxation import (
    AczelAlsina,
    Dombi,
    Einstein,
    Frank,
    Hamacher,
    Minimum,
    Probabilistic,
    Relaxation,
    SchweizerSklar,
    Yager,
)
from gatewise.nn.sampling import Bitwise, Gumbel, HardStraightThrough, Soft
from gatewise.nn.step import TrainStep

__all__ = [
    "NO_CONSTANTS",
    "AczelAlsina",
    "Affine",
    "Bitwise",
    "Dombi",
    "Einstein",
    "Frank",
    "GroupSum",
    "Gumbel",
    "Hamacher",
    "HardStraightThrough",
    "LearnedLayer",
    "Light",
    "LogicLayer",
    "LogicNetwork",
    "Logit",
    "Minimum",
    "Probabilistic",
    "Relaxation",
    "Residual",
    "SchweizerSklar",
    "Soft",
    "Softmax",
    "TrainStep",
    "Yager",
    "discretize",
    "discretize_seeded",
    "logic_network",
    "make_head",
    "normal",
    "read_counts",
    "with_sampling",
]
