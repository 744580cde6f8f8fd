"""Training of logic gate networks: a loop that can be killed and resumed, and runs on many machines.

Bits -> fit(network, task, data) -> Result: the best network, its circuit, its history, its model
"""

import gatewise.nn  # noqa: F401  (first: it names the fix for a missing torch)
from gatewise.train.augment import Chain, Erase, Mirror, Shift, Sometimes, Warp
from gatewise.train.checkpoint import Checkpoint, CheckpointError
from gatewise.train.data import Bits, Values, split
from gatewise.train.distributed import WorkerLostError, shard
from gatewise.train.history import History, Record, TensorBoard
from gatewise.train.loop import Result, fit
from gatewise.train.problem import ConvergenceWarning
from gatewise.train.recipe import Constant, Cosine, Exchange, Geometric, Recipe
from gatewise.train.tasks import Binary, Classification, MultiLabel, Regression

__all__ = [
    "Binary",
    "Bits",
    "Chain",
    "Checkpoint",
    "CheckpointError",
    "Classification",
    "Constant",
    "ConvergenceWarning",
    "Cosine",
    "Erase",
    "Exchange",
    "Geometric",
    "History",
    "Mirror",
    "MultiLabel",
    "Recipe",
    "Record",
    "Regression",
    "Result",
    "Shift",
    "Sometimes",
    "TensorBoard",
    "Values",
    "Warp",
    "WorkerLostError",
    "fit",
    "shard",
    "split",
]
