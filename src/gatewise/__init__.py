"""Learn logic circuits from data and run them at nanoseconds a sample.

raw rows -> Encoder -> bits -> layers of gates -> Circuit -> optimize -> Model -> labels, probabilities, values
                                                     |                     |
                                                     +-- Engine: counts    +-- save and load: .gw files
"""

from typing import Any

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
    "LogicClassifier",
    "LogicRegressor",
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


def __getattr__(name: str) -> Any:
    """The estimators, imported when they are first asked for, because they need torch and scikit-learn."""
    if name in ("LogicClassifier", "LogicRegressor"):
        from gatewise import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
