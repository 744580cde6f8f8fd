"""Shrink a circuit: fold constants, copies and inverters, share equal gates, rewrite small windows, sweep.

In: any circuit. Out: an equivalent one, never larger, whose outputs keep their order and groups.
Invariant: another native round does not improve the result, so simplifying it again changes nothing.
"""

from dataclasses import dataclass
from typing import Literal

from gatewise import _native
from gatewise.circuit import Circuit

N_CAUSES = 5

# ABC counts ANDs, of which XOR takes three. Mapped to tables of two inputs it counts gates as circuits do, which is why
# the first script finds most.
SCRIPTS = ("if -K 2 -a; mfs2 -a -e; strash", "&get -n; &dsdb; &put", "dc2")


@dataclass(frozen=True)
class Report:
    """How many gates `simplify_with_report` removed, by cause; the causes sum to before minus after.

    Attributes
    ----------
    gates_before, gates_after : int
    constant : int
        Gates that are always false or always true.
    pass_through : int
        Copies and inverters of another wire; an inverter that an output needs stays.
    shared : int
        Gates that compute what another gate computes.
    rewritten : int
        Gates saved by a cheaper form of a few neighboring gates.
    dead : int
        Gates that no output depends on.
    """

    gates_before: int
    gates_after: int
    constant: int = 0
    pass_through: int = 0
    shared: int = 0
    rewritten: int = 0
    dead: int = 0

    def __str__(self) -> str:
        return (
            f"{self.gates_before} -> {self.gates_after} gates: "
            f"{self.constant} constant, {self.pass_through} pass-through, {self.shared} shared, "
            f"{self.rewritten} rewritten, {self.dead} dead"
        )


def simplify(circuit: Circuit, *, effort: Literal["native", "abc"] = "native") -> Circuit:
    """The smallest equivalent circuit that local rules reach.

    Parameters
    ----------
    circuit : Circuit
    effort : {"native", "abc"}
        Whether ABC tries afterwards, too: see `gatewise.tools.abc` for where it is looked for. What it finds is kept
        only if it is smaller, and proved equal to `circuit`.

    Examples
    --------
    >>> nand_of_inverted = Circuit(2, gate=[12, 14], a=[2, 4], b=[2, 3], outputs=[5], group_ptr=[0, 1])
    >>> print(simplify(nand_of_inverted).to_text())
    circuit 2 inputs, 1 gates, 1 outputs, 1 groups
    w4 = A_OR_NOT_B w2 w3
    group 0: w4
    <BLANKLINE>
    """
    if effort not in ("native", "abc"):
        raise ValueError(f"effort must be native or abc, got {effort!r}")
    small = simplify_with_report(circuit)[0]
    return _restructure(circuit, small) if effort == "abc" else small


def simplify_with_report(circuit: Circuit) -> tuple[Circuit, Report]:
    """`simplify`, and what it removed.

    Examples
    --------
    >>> nand_of_inverted = Circuit(2, gate=[12, 14], a=[2, 4], b=[2, 3], outputs=[5], group_ptr=[0, 1])
    >>> print(simplify_with_report(nand_of_inverted)[1])
    2 -> 1 gates: 0 constant, 1 pass-through, 0 shared, 0 rewritten, 0 dead
    """
    best, removed = circuit, [0] * N_CAUSES
    while True:
        simpler, removed_now = _run_round(best)
        # This ends: a round that rewrites leaves fewer gates that are no inverters, and one that does not rewrite
        # only puts its input into canonical form, which the next round leaves as it is.
        if simpler.n_gates > best.n_gates or simpler == best:
            return best, Report(circuit.n_gates, best.n_gates, *removed)
        best, removed = simpler, [total + n for total, n in zip(removed, removed_now, strict=True)]


def _restructure(circuit: Circuit, best: Circuit) -> Circuit:
    """The smallest circuit that ABC finds from `best` on and proves equal to `circuit`."""
    from gatewise.tools.abc import is_proved_equal, restructure  # late, because few need it and it takes time to import

    while True:
        candidates = [simplify(restructure(best, script)) for script in SCRIPTS]
        smallest = min(candidates, key=lambda candidate: candidate.n_gates)
        if smallest.n_gates >= best.n_gates or not is_proved_equal(circuit, smallest):
            return best
        best = smallest


def _run_round(circuit: Circuit) -> tuple[Circuit, tuple[int, ...]]:
    gate, a, b, outputs, removed = _native.simplify(_native.Circuit(circuit.n_inputs, *circuit.arrays))
    return Circuit(circuit.n_inputs, gate, a, b, outputs, circuit.group_ptr), removed
