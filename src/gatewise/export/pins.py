"""Pins of a netlist and their names: what goes in, what comes out, and identifiers made of words that users chose.

In: a model or a circuit; any text. Out: a `NamedCircuit`; identifiers of Verilog, BLIF and C.
Invariant: names of inputs differ, and so do names of outputs; no identifier is a reserved word.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gatewise.circuit import Circuit
from gatewise.export.counting import take_group, with_counts, with_largest
from gatewise.model import Model

HeadForm: TypeAlias = Literal["bits", "counts", "class"]
"""What a netlist gives out: all output bits, the count of each group, or the index of the group with the largest."""

WORDS = {">": " gt ", "=": " eq ", "-": " minus ", ".": "p"}
MAX_LENGTH = 60
KEYWORDS = """
    always and assign automatic begin buf case casex casez cell cmos config deassign default defparam design disable
    edge else end endcase endconfig endfunction endgenerate endmodule endprimitive endspecify endtable endtask event for
    force forever fork function generate genvar highz0 highz1 if ifnone incdir include initial inout input instance
    integer join large liblist library localparam macromodule medium module nand negedge nmos nor not or output
    parameter pmos posedge primitive pull0 pull1 pulldown pullup rcmos real realtime reg release repeat rnmos rpmos
    rtran scalared showcancelled signed small specify specparam strong0 strong1 supply0 supply1 table task time tran tri
    tri0 tri1 triand trior trireg unsigned use vectored wait wand weak0 weak1 while wire wor xnor xor
"""
RESERVED = frozenset(KEYWORDS.split())
"""Keywords of Verilog-2001."""


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
    if head not in ("bits", "counts", "class"):
        raise ValueError(f"head must be bits, counts or class, got {head!r}")
    shaped = circuit if head == "bits" else with_counts(circuit)
    if head == "class":
        shaped = take_group(with_largest(shaped), -1)
    names = source.describe_bits() if isinstance(source, Model) else [f"x{i}" for i in range(circuit.n_inputs)]
    if len(set(names)) < len(names):  # two columns can say the same, as "a" = "b = c" and "a = b" = "c" do
        names = [f"{name} (bit {i})" for i, name in enumerate(names)]
    sizes = (shaped.group_ptr[1:] - shaped.group_ptr[:-1]).tolist()
    prefix = {"bits": "bit", "counts": "count", "class": "class"}[head]
    return NamedCircuit(shaped, names, [f"{prefix}_{k}_{i}" for k, size in enumerate(sizes) for i in range(size)])


def make_identifiers(prefix: str, texts: Sequence[str]) -> list[str]:
    """An identifier for each text: the prefix and a number, which make it unique, then what can be kept of the text.

    Examples
    --------
    >>> make_identifiers("b", ["age > -37.5", "job = d'être", "module"])
    ['b0_age_gt_minus_37p5', 'b1_job_eq_d_tre', 'b2_module']
    """
    spelled = ("".join(WORDS.get(letter, letter) for letter in text) for text in texts)
    plain = (re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:MAX_LENGTH] for text in spelled)
    return [f"{prefix}{i}_{text}".rstrip("_") for i, text in enumerate(plain)]


def escape_names(names: Sequence[str]) -> list[str]:
    """User-given names as parts of identifiers, no two equal even where case is ignored.

    A name that would equal another, or be empty, gets its position appended; so does one that ends like that.

    Examples
    --------
    >>> escape_names(["age", "hours/week", "hours week", "x_2", "漢字"])
    ['age', 'hours_week_1', 'hours_week_2', 'x_2_3', '_4']
    """
    plain = [re.sub("[^A-Za-z0-9]+", "_", name).strip("_") for name in names]
    counts = Counter(name.lower() for name in plain)
    return [
        f"{name}_{i}" if counts[name.lower()] > 1 or re.search(r"(^|_)\d*$", name) else name
        for i, name in enumerate(plain)
    ]


def as_comment(text: str) -> str:
    """The text on one line of printable ASCII, so that it cannot end a comment that ends with its line.

    Examples
    --------
    >>> as_comment("größe\\nassign")
    'gr\\\\xf6\\\\xdfe\\\\nassign'
    """
    return text.encode("unicode_escape").decode("ascii")


def check_name(name: object) -> str:
    """The name of a module; raises ValueError unless it is an identifier in lower case that no language reserves."""
    if not isinstance(name, str) or not re.fullmatch("[a-z][a-z0-9_]{0,59}", name) or name in RESERVED:
        raise ValueError(
            f"name must be a letter, then letters, digits and _, all lower case, and no keyword, got {name!r:.80}"
        )
    return name
