"""What netlist formats write down: a circuit, with or without its head as gates, and a name for each pin.

In: a model or a circuit. Out: a `NamedCircuit`.
Invariant: names of inputs differ, and so do names of outputs.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from gatewise.circuit import Circuit
from gatewise.export.adders import take_group, with_counts, with_largest
from gatewise.model import Model

HeadForm: TypeAlias = Literal["bits", "counts", "class"]
"""What a netlist gives out: all output bits, the count of each group, or the index of the group with the largest."""


@dataclass(frozen=True)
class NamedCircuit:
    """A circuit and the names of its pins."""

    circuit: Circuit
    input_names: list[str]
    output_names: list[str]


def name_pins(source: Model | Circuit, head: HeadForm = "bits") -> NamedCircuit:
    """A model's circuit, or a circuit, with its head in the form that is asked for.

    Inputs are named by what the encoder's bits say, or x0, x1, ... Outputs are named by the form and two numbers, the
    group and the bit in it: bit 0 of a count, or of the class, is the least significant one.

    Examples
    --------
    >>> three = Circuit(3, gate=[], a=[], b=[], outputs=[2, 3, 4], group_ptr=[0, 3])
    >>> named = name_pins(three, "counts")
    >>> named.circuit.n_gates, named.input_names, named.output_names
    (5, ['x0', 'x1', 'x2'], ['count_0_0', 'count_0_1'])
    """
    circuit = source.circuit if isinstance(source, Model) else source
    if head == "bits":
        shaped, prefix = circuit, "bit"
    elif head == "counts":
        shaped, prefix = with_counts(circuit), "count"
    elif head == "class":
        shaped, prefix = take_group(with_largest(with_counts(circuit)), -1), "class"
    else:
        raise ValueError(f"head must be bits, counts or class, got {head!r}")
    names = source.describe_bits() if isinstance(source, Model) else [f"x{i}" for i in range(circuit.n_inputs)]
    if len(set(names)) < len(names):  # two columns can say the same, as "a" = "b = c" and "a = b" = "c" do
        names = [f"{name} (bit {i})" for i, name in enumerate(names)]
    sizes = (shaped.group_ptr[1:] - shaped.group_ptr[:-1]).tolist()
    output_names = [f"{prefix}_{k}_{i}" for k, size in enumerate(sizes) for i in range(size)]
    return NamedCircuit(shaped, names, output_names)
