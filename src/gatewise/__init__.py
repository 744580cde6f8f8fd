"""Learn logic circuits from data and run them at nanoseconds a sample.

layers of gates -> Circuit -> optimize -> Engine -> counts, classes, bits
                      |                               (save and load: .gw files)
"""

from gatewise.circuit import Circuit
from gatewise.container import FileError
from gatewise.io import load, save
from gatewise.passes import Report, optimize, optimize_with_report
from gatewise.run.bits import PackedRows, Planes
from gatewise.run.engine import Engine
from gatewise.seeded import SeededCircuit

__all__ = [
    "Circuit",
    "Engine",
    "FileError",
    "PackedRows",
    "Planes",
    "Report",
    "SeededCircuit",
    "load",
    "optimize",
    "optimize_with_report",
    "save",
]
