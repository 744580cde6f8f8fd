"""The results of `benchmarks.train` as text: one line per contender and setting, and the parts of our own step."""

from typing import Any

from benchmarks.infer.targets import is_disturbed
from benchmarks.train.targets import entries_of

Result = dict[str, Any]

COLUMNS = "{:<28}{:<28}{:>10}{:>12}{:>10}{:>12}{:>12}  {}"
TITLES = ("net", "contender", "step ms", "fastest ms", "ours is", "memory MB", "warm-up s", "")


def header() -> str:
    """The columns' titles; "ours is" says how many times faster gatewise's step is."""
    return COLUMNS.format(*TITLES).rstrip()


def size_lines(result: Result) -> str:
    """One line per contender and setting, then where gatewise's own time goes."""
    ours = entries_of(result, "gatewise")
    lines = [_entry_line(result, entry, ours) for entry in result["contenders"]]
    for entry in ours:
        lines += _breakdown_lines(entry.get("breakdown", {}))
    return "\n".join(lines)


def _entry_line(result: Result, entry: Result, ours: list[Result]) -> str:
    n_threads = result["threads"]
    return COLUMNS.format(
        f"{result['size']}, {n_threads} thread{'s' if n_threads > 1 else ''}",
        f"{entry['contender']} {entry['setting']}",
        f"{entry['step_ms']:.3f}",
        f"{entry['fastest_ms']:.3f}",
        f"{entry['step_ms'] / ours[0]['step_ms']:.1f}x" if ours else "-",
        f"{entry['peak_memory_mb']:.0f}",
        f"{entry['warm_up_s']:.1f}",
        f"disturbed, {entry['free']:.0%} of its cores" if is_disturbed(entry) else "",
    ).rstrip()


def _breakdown_lines(parts: dict[str, float]) -> list[str]:
    step_ms = sum(parts.values())
    return [f"    {name:<60}{ms:>10.3f} ms{ms / step_ms:>7.0%}" for name, ms in parts.items()]
