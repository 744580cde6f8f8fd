"""Wiring from a seed: which wires the gates of a layer read, computed instead of stored.

In: a seed, a layer's position and its two widths. Out: the operands ``a`` and ``b`` of every gate.
Invariant: these algorithms are part of the `.gw` format, see `docs/format.md`: equal arguments give equal wires
everywhere, forever.
"""

from gatewise.wiring.butterfly import ButterflyWiring
from gatewise.wiring.candidates import AllInputs, Candidates, NearbyCandidates, RandomCandidates, SeededCandidates
from gatewise.wiring.convolution import CompactCircuit, ConvolutionalCircuit, OrPooling, SharedTrees
from gatewise.wiring.layers import Operands, Wiring, warn_unread
from gatewise.wiring.learned import LearnedWiring
from gatewise.wiring.local import local_wiring
from gatewise.wiring.nearby import NearbyWiring
from gatewise.wiring.random import random_wiring
from gatewise.wiring.seeded import WIRINGS, AnyWiring, ImageWiring, SeededCircuit
from gatewise.wiring.taps import NearbyTaps, RandomTaps, TapCandidates, Taps
from gatewise.wiring.unique import unique_wiring
from gatewise.wiring.window import Window

__all__ = [
    "WIRINGS",
    "AllInputs",
    "AnyWiring",
    "ButterflyWiring",
    "Candidates",
    "CompactCircuit",
    "ConvolutionalCircuit",
    "ImageWiring",
    "LearnedWiring",
    "NearbyCandidates",
    "NearbyTaps",
    "NearbyWiring",
    "Operands",
    "OrPooling",
    "RandomCandidates",
    "RandomTaps",
    "SeededCandidates",
    "SeededCircuit",
    "SharedTrees",
    "TapCandidates",
    "Taps",
    "Window",
    "Wiring",
    "local_wiring",
    "random_wiring",
    "unique_wiring",
    "warn_unread",
]
