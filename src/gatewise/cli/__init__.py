"""The command `gatewise`: from a CSV or Parquet file to a model, and from a model to predictions.

In: arguments. Out: files, lines to read or one JSON object, and an exit code.
Invariant: a command parses, calls and prints; whatever it computes, the library computes. Only `train` needs torch and
scikit-learn, and only what reads or writes tables needs pyarrow.
"""

from gatewise.cli.entry import main

__all__ = ["main"]
