"""Wiring from a seed: which wires the gates of a layer read, computed instead of stored.

In: a seed, a layer's position and its two widths. Out: the operands ``a`` and ``b`` of every gate.
Invariant: these algorithms are part of the `.gw` format, see `docs/format.md`: equal arguments give equal wires
everywhere, forever.
"""

from gatewise.wiring.butterfly import ButterflyWiring
from gatewise.wiring.candidates import AllInputs, Candidates, NearbyCandidates, RandomCandidates, SeededCandidates
from gatewise.wiring.layers import Operands, Wiring, warn_unread
from gatewise.wiring.learned import LearnedWiring
from gatewise.wiring.local import local_wiring
from gatewise.wiring.nearby import NearbyWiring
from gatewise.wiring.random import random_wiring
from gatewise.wiring.seeded import WIRINGS, AnyWiring, ImageWiring, SeededCircuit
from gatewise.wiring.unique import unique_wiring

__all__ = [
    "WIRINGS",
    "AllInputs",
    "AnyWiring",
    "ButterflyWiring",
    "Candidates",
    "ImageWiring",
    "LearnedWiring",
    "NearbyCandidates",
    "NearbyWiring",
    "Operands",
    "RandomCandidates",
    "SeededCandidates",
    "SeededCircuit",
    "Wiring",
    "local_wiring",
    "random_wiring",
    "unique_wiring",
    "warn_unread",
]
