"""Differentiable logic gates in PyTorch: layers, what they are made of, and the step to a `Circuit`.

values in [0, 1] -> LogicLayer -> ... -> GroupSum -> loss;   discretize(network) -> Circuit
images -> FeatureMaps -> LogicConv2d -> OrPool2d -> ... -> torch.nn.Flatten -> LogicLayer -> ...
"""

# ruff: noqa: E402 (a package that is missing is named before anything imports it)

from gatewise.extras import require

require("torch", "torch", needed_by="gatewise.nn")

from gatewise.nn.architectures.anchored import Anchored, anchored_network
from gatewise.nn.architectures.convolutional import (
    ConvolutionStage,
    convolutional_network,
    strided_network,
    tree_network_cifar10,
    tree_network_mnist,
)
from gatewise.nn.convolution.layer import LearnedConv2d, LogicConv2d
from gatewise.nn.convolution.maps import FeatureMaps, OrPool2d
from gatewise.nn.convolution.shared import discretize_shared
from gatewise.nn.discretize import discretize, discretize_seeded, make_head, read_counts
from gatewise.nn.head import Affine, GroupSum, Logit
from gatewise.nn.kernels.tensor_engine import TensorEngine, TensorPlanes
from gatewise.nn.layer import LogicLayer
from gatewise.nn.learned import LearnedLayer
from gatewise.nn.lut import LutLayer, lut_network
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
    "Anchored",
    "Bitwise",
    "ConvolutionStage",
    "Dombi",
    "Einstein",
    "FeatureMaps",
    "Frank",
    "GroupSum",
    "Gumbel",
    "Hamacher",
    "HardStraightThrough",
    "LearnedConv2d",
    "LearnedLayer",
    "Light",
    "LogicConv2d",
    "LogicLayer",
    "LogicNetwork",
    "Logit",
    "LutLayer",
    "Minimum",
    "OrPool2d",
    "Probabilistic",
    "Relaxation",
    "Residual",
    "SchweizerSklar",
    "Soft",
    "Softmax",
    "TensorEngine",
    "TensorPlanes",
    "TrainStep",
    "Yager",
    "anchored_network",
    "convolutional_network",
    "discretize",
    "discretize_seeded",
    "discretize_shared",
    "logic_network",
    "lut_network",
    "make_head",
    "normal",
    "read_counts",
    "strided_network",
    "tree_network_cifar10",
    "tree_network_mnist",
    "with_sampling",
]
