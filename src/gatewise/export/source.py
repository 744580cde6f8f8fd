"""What is exported as code of a programming language, and how; C, CUDA and WebAssembly are made of it.

In: a model or a circuit, and options. Out: a `Source`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gatewise.circuit import Circuit
from gatewise.encode import Encoder, Numeric
from gatewise.export.comparisons import Asked, ask, find_clipped, is_coded, warn_of_range
from gatewise.export.netlist import Netlist, lower
from gatewise.export.package import fill_template, rename
from gatewise.export.pins import check_name
from gatewise.heads import Classes, Head
from gatewise.model import Model

Style = Literal["unrolled", "table"]
RESERVED = ("check", "cpu", "math", "stdint")
"""Names of other files that are compiled with an export, or included by it."""


@dataclass(frozen=True, eq=False)
class Source:
    """What is exported, and how: `name` is what all names start with, `dtype` the type of the numbers of a row.

    `netlist` is that of the circuit, sorted for style "table"; `asked` are the comparisons of each column. A circuit
    alone has no head.
    """

    name: str
    dtype: str
    style: Style
    encoder: Encoder
    circuit: Circuit
    head: Head | None
    netlist: Netlist
    asked: list[Asked]

    @property
    def kind(self) -> str:
        """What it is in a word."""
        return "circuit" if self.head is None else "classifier" if isinstance(self.head, Classes) else "regression"

    @property
    def n_counted(self) -> int:
        """Nodes that the groups count."""
        return len(self.netlist.read_nodes())

    @property
    def has_codes(self) -> bool:
        """Whether strings are given to it as numbers."""
        return any(map(is_coded, self.encoder.columns))

    def fill(self, path: str, **parts: str) -> str:
        """A template of C; `parts` are what it includes, by names without .h."""
        return fill_template(path, self.name, {f"{part}.h": rename(text, self.name) for part, text in parts.items()})


def take_apart(model: Model | Circuit) -> tuple[Circuit, Head | None]:
    """The circuit of a model and its head; a circuit alone has none."""
    return (model.circuit, model.head) if isinstance(model, Model) else (model, None)


def make_source(model: Model | Circuit, *, style: Style, name: str, dtype: str | None) -> Source:
    """What is exported, from the arguments of `gatewise.export.to_c`."""
    if check_name(name) in RESERVED:
        raise ValueError(f"name must be none of {', '.join(RESERVED)}, which other files have, got {name!r}")
    if style not in ("unrolled", "table"):
        raise ValueError(f"style must be unrolled or table, got {style!r:.60}")
    circuit, head = take_apart(model)
    columns = (Numeric(f"x{i}", np.array([0.5])) for i in range(circuit.n_inputs))
    encoder = model.encoder if isinstance(model, Model) else Encoder(tuple(columns))
    dtype = dtype or ("uint8" if head is None else "float64")
    asked = ask(encoder, dtype)
    warn_of_range(find_clipped(encoder, dtype), dtype, "dtype")
    netlist = lower(circuit)
    return Source(name, dtype, style, encoder, circuit, head, netlist.sort() if style == "table" else netlist, asked)
