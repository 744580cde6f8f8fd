"""The training speeds this project promises, evaluated on the results of `benchmarks.train`.

In: one result per size and number of threads, as written to JSON. Out: a `Verdict` per target that was measured.
"""

from collections.abc import Iterator
from typing import Any

from benchmarks.infer.targets import Verdict, is_disturbed

Result = dict[str, Any]

OVER_TORCHLOGIX = {  # size: (target, stretch)
    "monk": (8, 20),
    "adult": (8, 20),
    "mnist-small": (12, 25),
    "cifar-small": (12, 25),
    "mnist-normal": (10, 20),
}
OVER_DIFFLOGIC = {"mnist-small": (40, 80), "cifar-small": (40, 80)}
MEMORY_OVER_TORCHLOGIX = {"mnist-small": (1 / 2, 1 / 4)}


def judge(results: list[Result]) -> list[Verdict]:
    """Every target that the results can answer; none without gatewise's own time."""
    return [verdict for result in results for verdict in _judge_size(result)]


def entries_of(result: Result, contender: str) -> list[Result]:
    """What one contender measured, one entry per setting."""
    return [entry for entry in result["contenders"] if entry["contender"] == contender]


def _judge_size(result: Result) -> Iterator[Verdict]:
    size, n_threads = result["size"], result["threads"]
    ours = entries_of(result, "gatewise")
    torchlogix = entries_of(result, "torchlogix")
    # Its documented CPU path; torch.compile over it is measured too, but is nothing that it offers.
    difflogic = [entry for entry in entries_of(result, "difflogic") if entry["setting"] == "eager"]
    where = f"{size}, {n_threads} thread{'s' if n_threads > 1 else ''}"
    for name, peer, targets in (("torchlogix", torchlogix, OVER_TORCHLOGIX), ("difflogic", difflogic, OVER_DIFFLOGIC)):
        if size in targets and ours and peer:
            best = min(peer, key=lambda entry: entry["step_ms"])
            ratio = best["step_ms"] / ours[0]["step_ms"]
            disturbed = is_disturbed(ours[0]) or any(map(is_disturbed, peer))
            title = f"{where}: step, over {name} {best['setting']}"
            yield Verdict(title, ratio, *targets[size], disturbed=disturbed)
    if size in MEMORY_OVER_TORCHLOGIX and ours and torchlogix:
        least = min(torchlogix, key=lambda entry: entry["peak_memory_mb"])
        ratio = ours[0]["peak_memory_mb"] / least["peak_memory_mb"]
        title = f"{where}: memory, share of torchlogix {least['setting']}'s"
        yield Verdict(title, ratio, *MEMORY_OVER_TORCHLOGIX[size], at_most=True)
