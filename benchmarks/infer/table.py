"""The results of `benchmarks.infer` as text: one line per net and contender, and one per target."""

from typing import Any

from benchmarks.infer.targets import Verdict, is_disturbed

Result = dict[str, Any]

COLUMNS = "{:<24}{:<24}{:>11}{:>12}{:>11}{:>11}{:>12}{:>8}  {}"
TITLES = ("net", "contender", "prepare s", "bools ns", "packed ns", "kernel ns", "gates/cycle", "limit", "")


def header(limits: dict[str, float]) -> str:
    """What the core can do, and the columns' titles.

    "gates/cycle" counts the gates of the net as given, times rows; "limit" is the share of the core's load
    and logic limit that the gates left after simplification reach, where their number is known.
    """
    widths = [
        f"{bits}-bit per cycle: {limits[f'loads_l1_{bits}']:.2f} loads from L1, "
        f"{limits[f'loads_l2_{bits}']:.2f} from L2, {limits[f'operations_{bits}']:.2f} operations"
        for bits in (256, 512)
        if f"operations_{bits}" in limits
    ]
    clock = f"at {limits['cycles_per_ns']:.2f} GHz"
    limit = f"limit: {limits['gates_per_cycle']:.0f} gate evaluations per cycle {clock}"
    return "\n".join([*widths, limit, "", COLUMNS.format(*TITLES).rstrip()])


def net_lines(result: Result, limits: dict[str, float]) -> str:
    """One line per contender."""
    contenders = [(f"gatewise {result['ours']['target']}", result["ours"])]
    if "ours_two_threads" in result:
        contenders.append(("gatewise, 2 threads", result["ours_two_threads"]))
    contenders += [(f"{peer['peer']} -O{peer['opt_level']}", peer) for peer in result["peers"]]
    return "\n".join(_contender_line(result, name, entry, limits) for name, entry in contenders)


def verdict_lines(verdicts: list[Verdict]) -> str:
    """One line per target."""
    lines = [f"\n{'target':<68}{'value':>9}{'target':>9}{'stretch':>9}"]
    for verdict in verdicts:
        relation = "<=" if verdict.at_most else ">="
        lines.append(
            f"{verdict.name:<68}{verdict.value:>9.3g}{relation:>4}{verdict.target:>5g}"
            f"{verdict.stretch:>9g}  {verdict.outcome}{', disturbed' if verdict.disturbed else ''}"
        )
    return "\n".join(lines)


def _contender_line(result: Result, name: str, entry: Result, limits: dict[str, float]) -> str:
    from_bools = min(entry[way] for way in ("call_ns", "library_ns") if way in entry)
    inner = min(entry[way] for way in ("kernel_ns", "packed_ns", "library_ns") if way in entry)
    cycles = inner * limits["cycles_per_ns"]
    share = entry["n_gates"] / cycles / limits["gates_per_cycle"] if "n_gates" in entry else None
    return COLUMNS.format(
        f"{result['size']} {result['kind']}",
        name,
        f"{entry['preparation_s']:.3f}",
        f"{from_bools:.1f}",
        f"{entry['packed_ns']:.1f}" if "packed_ns" in entry else "-",
        f"{entry['kernel_ns']:.1f}" if "kernel_ns" in entry else "-",
        f"{result['n_gates'] / cycles:.1f}",
        f"{share:.0%}" if share is not None else "-",
        "disturbed" if is_disturbed(entry) else "",
    ).rstrip()
