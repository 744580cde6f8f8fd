"""Learn logic circuits from data and run them at nanoseconds a sample.

raw rows -> Encoder -> bits -> layers of gates -> Circuit -> optimize -> Model -> labels, probabilities, values
                                                     |                     |
                                                     +-- Engine: counts    +-- save and load: .gw files
"""

from gatewise.circuit import Circuit
from gatewise.container import FileError
from gatewise.encode import Encoder
from gatewise.model import Model, load, save
from gatewise.passes import Report, optimize, optimize_with_report
from gatewise.run.bits import PackedRows, Planes
from gatewise.run.engine import Engine
from gatewise.seeded import SeededCircuit

__all__ = [
    "Circuit",
    "Encoder",
    "Engine",
    "FileError",
    "Model",
    "PackedRows",
    "Planes",
    "Report",
    "SeededCircuit",
    "load",
    "optimize",
    "optimize_with_report",
    "save",
]
