"""Pictures of a trained network: its gates layer by layer, and what it confuses; in the terminal and as PNG.

In: counts. Out: text, or a matplotlib figure.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gatewise.extras import require
from gatewise.gates import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHADES = " ░▒▓█"


def draw_gates(gates: NDArray[np.int64]) -> str:
    """Draw the shares of the 16 gates, one line per layer.

    Shades stand for the square roots of the shares, so that rare gates are visible.

    Parameters
    ----------
    gates : int array, shape (n_layers, 16)

    Examples
    --------
    >>> print(draw_gates(np.eye(16, dtype=int)[[0, 6]]).splitlines()[1])
    layer 1  ██
    """
    peaks = np.sqrt(gates / gates.max(1, keepdims=True))
    levels = np.ceil(peaks * (len(SHADES) - 1)).astype(int)
    cells = ["".join(f"{SHADES[level] * 2} " for level in row) for row in levels]
    head = "gate     " + "".join(f"{gate:<3}" for gate in range(16))
    return "\n".join([head, *(f"layer {i}  {row}".rstrip() for i, row in enumerate(cells, 1))])


def draw_confusion(confusion: NDArray[np.int64], labels: list[Any]) -> str:
    """Draw a confusion matrix: a row per true label, a column per predicted one, and a dot for zero.

    Examples
    --------
    >>> print(draw_confusion(np.array([[5, 0], [1, 4]]), ["no", "yes"]))
    true    no yes
       no    5   .
      yes    1   4
    """
    width = 1 + max(len(str(value)) for value in [*labels, int(confusion.max())])
    lines = ["true  " + "".join(f"{label!s:>{width}}" for label in labels)]
    for label, row in zip(labels, confusion, strict=True):
        lines.append(f"{label!s:>5} " + "".join(f"{value or '.':>{width}}" for value in row.tolist()))
    return "\n".join(lines)


def plot_circuit(gates: NDArray[np.int64], confusion: NDArray[np.int64], labels: list[Any]) -> "Figure":
    """Draw both as a matplotlib figure: the shares of the gates in each layer, as in the paper, and the confusions."""
    figure: Figure = require("matplotlib.figure", "plot", needed_by="a picture").Figure(
        figsize=(13, 5.5), layout="constrained"
    )
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    shares = gates / gates.sum(1, keepdims=True)
    image = left.imshow(shares, cmap="Blues", aspect="auto", vmin=0)
    left.set(title="Gates of each layer", xticks=range(16), yticks=range(len(gates)))
    left.set_xticklabels(NAMES, rotation=45, ha="right")
    left.set_yticklabels([f"layer {i}" for i in range(1, len(gates) + 1)])
    figure.colorbar(image, ax=left, label="share of the layer's gates")
    right.imshow(np.log1p(confusion), cmap="Blues")
    for (row, column), value in np.ndenumerate(confusion):
        if value:
            color = "white" if value > confusion.max() / 3 else "black"
            right.text(column, row, value, ha="center", va="center", color=color, fontsize=8)
    right.set(
        title="Test rows", xlabel="predicted", ylabel="true", xticks=range(len(labels)), yticks=range(len(labels))
    )
    right.set_xticklabels(labels)
    right.set_yticklabels(labels)
    return figure
