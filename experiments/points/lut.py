"""Networks of lookup tables with six inputs on MNIST, as FPGAs have them, trained on bits.

In: the name of a point. Out: its network and how it is trained, and what others have published. Settings were chosen on
images held out, as those of the frontier are.
"""

from dataclasses import dataclass, replace
from functools import partial

from torch.nn import Module

from experiments.data import Dataset
from experiments.plans import Plan
from experiments.points.frontier import Point, Published
from gatewise.nn import lut_network
from gatewise.train import Exchange


@dataclass(frozen=True)
class TablePoint(Point):
    """A network of tables: `widths` are those of its layers, and the pins of the first one learn what they read."""

    n_inputs: int = 6  # of a table

    def plan(self, data: Dataset) -> Plan:
        """How it is trained, on all training images."""
        plan = super().plan(data)
        return replace(plan, build=partial(self.build, plan, int(data.y.max()) + 1))

    def build(self, plan: Plan, n_classes: int, seed: int) -> Module:
        """The network of a seed."""
        n_bits = plan.encoder.n_bits
        return lut_network(n_bits, self.widths, n_classes, k=self.n_inputs, tau=plan.tau, seed=seed, **plan.options)


_SMALL = TablePoint(
    "mnist-lut-500",
    "mnist",
    (500,),
    tau=1.7,
    epochs=100,
    radius=14,
    k=64,
    temperature=4.0,
    learning_rate=0.1,
    exchange=Exchange(until=0.6),
)
POINTS = {
    point.name: point for point in (_SMALL, replace(_SMALL, name="mnist-lut-2000", widths=(2000,), tau=3.4, epochs=60))
}

PUBLISHED = (
    Published("mnist", "DWN", 300, 96.77, "arXiv:2410.11112", "rerun by others"),
    Published("mnist", "DWN", 500, 97.70, "arXiv:2410.11112", "rerun by others"),
    Published("mnist", "DWN", 2000, 98.29, "arXiv:2410.11112", "rerun by others"),
)
