"""Layers of lookup tables with k inputs: the layer itself, its wires, and its native steps.

bits -> LutLayer -> ... -> GroupSum -> loss
"""

from gatewise.nn.lut.layer import LutLayer
from gatewise.nn.lut.network import lut_network

__all__ = ["LutLayer", "lut_network"]
