"""What notebooks show of values: small tables, and figures that show themselves.

In: names and values. Out: HTML, matplotlib figures. Invariant: strings are text in HTML, never markup.
"""

import io
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from gatewise.extras import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_SHOWN = 200
"""Characters of a value."""


def make_table(caption: str, rows: Mapping[str, object]) -> str:
    """An HTML table with a row for each name; whole numbers get commas, long values are cut.

    Examples
    --------
    >>> make_table("Sizes", {"<gates>": 1200})
    '<table><caption>Sizes</caption><tr><th>&lt;gates&gt;</th><td>1,200</td></tr></table>'
    """
    shown = {name: f"{value:,}" if type(value) is int else f"{value!s:.{MAX_SHOWN}}" for name, value in rows.items()}
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in shown.items())
    return f"<table><caption>{escape(caption)}</caption>{cells}</table>"


def make_figure(size: tuple[float, float], *, needed_by: str) -> "Figure":
    """An empty figure that notebooks show without pyplot, which matplotlib's own figures need for that.

    Parameters
    ----------
    size : (width, height)
        In inches.
    needed_by : str
        What to say if matplotlib is missing.

    Examples
    --------
    >>> make_figure((2, 1), needed_by="an example")._repr_png_()[:4]
    b'\\x89PNG'
    """
    module = require("matplotlib.figure", "plot", needed_by=needed_by)

    class Chart(module.Figure):  # type: ignore[misc, name-defined]
        """A figure that shows itself."""

        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png")
            return buffer.getvalue()

    figure: Figure = Chart(figsize=size, layout="constrained")
    return figure
