"""Numbers and tables as Markdown."""

from collections.abc import Iterable, Sequence


def number(value: float) -> str:
    """Two digits below 10, all digits before the point from there on: 0.035, 6.3, 95, 10,773."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:#.2g}" if value < 1 else f"{value:.1f}"


def percent(share: float, digits: int = 1) -> str:
    """A share of 1 as percent."""
    return f"{100 * share:.{digits}f} %"


def ratio(value: float) -> str:
    """How many times: 9.3×, 160×."""
    return f"{number(value)}×"


def duration(seconds: float) -> str:
    """In milliseconds below a tenth of a second: 17 ms, 0.16 s, 5.1 s, 149 s."""
    return f"{number(1e3 * seconds)} ms" if seconds < 0.1 else f"{number(seconds)} s"


def span(values: Iterable[float], between: str = "–") -> str:
    """The least and the largest of some values."""
    least, *_, largest = sorted(values)
    return f"{number(least)}{between}{number(largest)}"


def render_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, without a line break at its end."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
