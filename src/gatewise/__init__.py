"""Learn logic circuits from data and run them at nanoseconds per sample.

raw rows -> Encoder -> bits -> layers of gates -> Circuit -> simplify -> Model -> labels, probabilities, values
                                                     |                     |
                                                     +-- Engine: counts    +-- save and load: .gw files

The rooms that it consists of are named in CONTRIBUTING.md. `gatewise.nn`, `gatewise.train` and the estimators need
torch; everything else needs numpy and safetensors.
"""

from typing import TYPE_CHECKING

from gatewise.bits import PackedRows, Planes
from gatewise.circuit import Circuit
from gatewise.encode import Encoder
from gatewise.model import Model
from gatewise.passes import Report, simplify, simplify_with_report
from gatewise.run.engine import Engine
from gatewise.wiring import ConvolutionalCircuit, SeededCircuit

__version__ = "0.1.0"

# The estimators are left out, so that `from gatewise import *` works without torch.
__all__ = [
    "Circuit",
    "ConvolutionalCircuit",
    "Encoder",
    "Engine",
    "FileError",
    "Model",
    "PackedRows",
    "Planes",
    "Report",
    "SeededCircuit",
    "__version__",
    "load",
    "save",
    "simplify",
    "simplify_with_report",
]

if TYPE_CHECKING:
    from gatewise.estimators import BitEncoder as BitEncoder
    from gatewise.estimators import LogicClassifier as LogicClassifier
    from gatewise.estimators import LogicRegressor as LogicRegressor
    from gatewise.store import FileError, load, save
else:
    # Imported when they are first asked for: the estimators need torch and scikit-learn, and files take time to import.
    LATE = {
        "BitEncoder": "gatewise.estimators",
        "LogicClassifier": "gatewise.estimators",
        "LogicRegressor": "gatewise.estimators",
        "FileError": "gatewise.store",
        "load": "gatewise.store",
        "save": "gatewise.store",
    }

    def __getattr__(name: str) -> object:
        if name in LATE:
            from importlib import import_module

            return globals().setdefault(name, getattr(import_module(LATE[name]), name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *LATE})
