"""The speeds this project promises, evaluated on the results of `benchmarks.infer`.

In: one result per net, as written to JSON. Out: one `Verdict` per target and kind of net that was measured.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

Result = dict[str, Any]

UNDISTURBED = 0.97  # share of a contender's cores that others must have left to it

END_TO_END = {"adult": (6, 10), "mnist-small": (8, 12), "cifar-small": (8, 12)}  # size: (target, stretch)
PACKED_OVER_KERNEL = {"mnist-small": (3, 6)}
FIRST_RESULT_S = {"mnist-small": (0.2, 0.05), "cifar-small": (0.2, 0.05)}
PREPARATION_S = {"cifar-large-x4": (25, 8)}
PEAK_MEMORY_GB = {"cifar-large-x4": (2, 2)}
TWO_THREADS = {"mnist-small": (1.8, 1.95)}


@dataclass(frozen=True)
class Verdict:
    """A measured value beside its target and stretch; higher is better unless `at_most`.

    A verdict on times that other processes disturbed proves nothing: measure again on an idle machine.
    """

    name: str
    value: float
    target: float
    stretch: float
    at_most: bool = False
    disturbed: bool = False

    @property
    def outcome(self) -> str:
        """ "stretch", "pass" or "miss"."""
        sign = -1 if self.at_most else 1
        if sign * self.value >= sign * self.stretch:
            return "stretch"
        return "pass" if sign * self.value >= sign * self.target else "miss"


def judge(results: list[Result]) -> list[Verdict]:
    """Every target that the results can answer."""
    verdicts = []
    for result in results:
        disturbed = any(is_disturbed(entry) for entry in [result["ours"], *result["peers"]])
        verdicts += [replace(verdict, disturbed=disturbed) for verdict in _judge_net(result)]
    return verdicts


def is_disturbed(entry: Result) -> bool:
    """Whether other processes kept a contender from its core while it was timed."""
    return entry["free"] < UNDISTURBED


def fastest_from_bools(peers: list[Result]) -> float:
    """Nanoseconds per row of the fastest peer at its best setting and by its fastest way in."""
    return min(peer[way] for peer in peers for way in ("call_ns", "library_ns") if way in peer)


def _judge_net(result: Result) -> Iterator[Verdict]:
    size, ours, peers = result["size"], result["ours"], result["peers"]
    net = f"{size} {result['kind']}"
    kernels = [peer["kernel_ns"] for peer in peers if "kernel_ns" in peer]
    if size in END_TO_END and peers:
        ratio = fastest_from_bools(peers) / ours["library_ns"]
        yield Verdict(f"{net}: from bools, over the fastest peer", ratio, *END_TO_END[size])
    if size in PACKED_OVER_KERNEL and kernels:
        ratio = min(kernels) / ours["packed_ns"]
        name = f"{net}: packed rows to counts, over difflogic's bare kernel"
        yield Verdict(name, ratio, *PACKED_OVER_KERNEL[size])
    if size in FIRST_RESULT_S:
        name = f"{net}: circuit to first result, s"
        yield Verdict(name, ours["preparation_s"], *FIRST_RESULT_S[size], at_most=True)
    if size in PREPARATION_S:
        seconds = ours["simplify_s"] + ours["plan_s"]
        yield Verdict(f"{net}: simplify and plan, s", seconds, *PREPARATION_S[size], at_most=True)
        memory = ours["peak_memory_gb"]
        yield Verdict(f"{net}: peak memory, GB", memory, *PEAK_MEMORY_GB[size], at_most=True)
    if size in TWO_THREADS and "ours_two_threads" in result:
        ratio = ours["library_ns"] / result["ours_two_threads"]["library_ns"]
        yield Verdict(f"{net}: two threads over one, from bools", ratio, *TWO_THREADS[size])
