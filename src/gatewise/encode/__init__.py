"""Raw tables to bits: thresholds for numbers and for parts of dates, one bit per category for everything else.

In: arrays, lists, or data frames of any library. Out: `Planes` to run circuits on, or `PackedRows` to train with.
Invariant: every bit asks one question about one column, and all of them can be said in words.
"""

from gatewise.encode.advice import ColumnWarning
from gatewise.encode.columns import Categorical, Numeric
from gatewise.encode.encoder import Encoder
from gatewise.encode.timed import Timed

__all__ = ["Categorical", "ColumnWarning", "Encoder", "Numeric", "Timed"]
