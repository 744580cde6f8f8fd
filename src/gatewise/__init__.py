"""Learn logic circuits from data and run them at nanoseconds a sample.

    raw rows -> bits -> Circuit -> optimize -> Engine
"""

from gatewise.circuit import Circuit
from gatewise.run.engine import Engine

__all__ = ["Circuit", "Engine"]
