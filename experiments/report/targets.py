"""What was asked of networks, and what their records have: of gates, of convolutions, of lookup tables.

In: the latest records. Out: a row for every target; one that no record speaks of says so.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from experiments.points import lut
from experiments.points.convolution import RECIPE
from experiments.report.records import Record, Records

COLUMNS = ["what", "asked", "found", ""]


class Target(NamedTuple):
    """A bound that the best record of some points is to keep; `measure` takes a record, `unit` follows its number."""

    what: str
    recipe: str
    names: tuple[str, ...]
    measure: Callable[[Record], float]
    bound: float
    unit: str = " %"
    at_most: bool = False

    @property
    def asked(self) -> str:
        """The bound in words."""
        return f"at {'most' if self.at_most else 'least'} {self.bound:,g}{self.unit}"


def accuracy_of(record: Record) -> float:
    """Percent of the test rows, the mean of all seeds."""
    return float(record["accuracy"]["mean"])


def ns_of(record: Record) -> float:
    """Nanoseconds per row on one thread, from packed bits."""
    return float(record["time"]["packed_ns"])


def tables_over_nodes(record: Record) -> float:
    """Lookup tables that synthesis makes of the gates, over those that were trained; the worst seed."""
    n_nodes = sum(lut.POINTS[record["name"]].widths)
    return max(seed["tables"] for seed in record["seeds"]) / n_nodes


MNIST_150K = ("mnist-learned-150k", "mnist-tree-150k")
CIFAR_400K = ("cifar-learned-s", "cifar-learned-400k", "cifar-tree-400k")
CIFAR_M = ("cifar-learned-m", "cifar-tree-m", "cifar-strided-m")
TARGETS = (
    Target("MNIST, convolution, at most 150,000 gates", RECIPE, MNIST_150K, accuracy_of, 98.8),
    Target("CIFAR-10, convolution, at most 400,000 gates", RECIPE, CIFAR_400K, accuracy_of, 60.4),
    Target("the same, time per image", RECIPE, CIFAR_400K, ns_of, 6000, " ns", at_most=True),
    Target("CIFAR-10, convolution, at most 3.1 million gates", RECIPE, CIFAR_M, accuracy_of, 66),
    Target("MNIST, 500 tables of six inputs", "lut", ("mnist-lut-500",), accuracy_of, 97.5),
    Target("the same after synthesis, over 500", "lut", ("mnist-lut-500",), tables_over_nodes, 1.2, "", at_most=True),
    Target("MNIST, 2,000 tables of six inputs", "lut", ("mnist-lut-2000",), accuracy_of, 98.2),
    Target("the same after synthesis, over 2000", "lut", ("mnist-lut-2000",), tables_over_nodes, 1.2, "", at_most=True),
)
FRONTIER_TARGETS = (
    Target("MNIST, 1,000 gates", "frontier", ("mnist-1k",), accuracy_of, 96.2),
    Target("MNIST, 8,000 gates", "frontier", ("mnist-8k",), accuracy_of, 98.45),
    Target("MNIST, 16,000 gates", "frontier", ("mnist-16k",), accuracy_of, 98.9),
    Target("Fashion-MNIST, 8,000 gates", "frontier", ("fashion-8k",), accuracy_of, 89),
    Target("Fashion-MNIST, 64,000 gates", "frontier", ("fashion-64k",), accuracy_of, 90.3),
    Target("CIFAR-10, 64,000 gates", "frontier", ("cifar-64k",), accuracy_of, 59),
    Target("CIFAR-10, 256,000 gates", "frontier", ("cifar-256k",), accuracy_of, 61.5),
    Target("CIFAR-10, 1.28 million gates, fixed wires", "ours", ("cifar-large",), accuracy_of, 58.9),
)


def list_rows(records: Records, targets: Iterable[Target] = TARGETS) -> Iterator[Sequence[str]]:
    """What, asked, found, and whether it was missed: the most accurate point speaks for a target."""
    for target in targets:
        tried = [records[name, target.recipe] for name in target.names if (name, target.recipe) in records]
        if not tried:
            yield target.what, target.asked, "not run", "open"
            continue
        best = max(tried, key=accuracy_of)
        found = target.measure(best)
        is_met = found <= target.bound if target.at_most else found >= target.bound
        n_seeds = len(best["seeds"])
        shown = f"{found:,.0f}" if target.bound >= 1000 else f"{found:.2f}"
        told = f"{shown}{target.unit}, {n_seeds} seed{'s' * (n_seeds > 1)}"
        yield target.what, target.asked, told, "met" if is_met else "missed"
