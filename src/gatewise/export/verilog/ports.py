"""Inputs of a Verilog module: bits, or raw columns as fixed-point numbers and codes, compared with constants.

In: an encoder and a fixed-point format. Out: ports, the expression of each bit, and random rows for a testbench.
Invariant: bits are those of `Encoder.encode` for every value that a port can hold. A fixed-point port holds k where the
value is k / 2**fraction, so x > t just where k > floor(t * 2**fraction), which is a whole number.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import Circuit
from gatewise.encode import Categorical, Encoder, Numeric
from gatewise.encode.columns import Column
from gatewise.export.comparisons import encode_numbers, is_coded
from gatewise.export.page import list_codes, show
from gatewise.export.pins import make_identifiers
from gatewise.export.vectors import draw_bits, list_neighbors

MAX_WIDTH = 53  # every number of a port is a float64


@dataclass(frozen=True)
class Port:
    """An input: `meaning` says in words what it holds."""

    name: str
    width: int
    is_signed: bool
    meaning: str

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest number that it holds."""
        lowest = -(1 << self.width - 1) if self.is_signed else 0
        return lowest, lowest + (1 << self.width) - 1

    def declare(self) -> str:
        """The declaration in a list of ports."""
        return f"input wire{' signed' * self.is_signed}{f' [{self.width - 1}:0]' * (self.width > 1)} {self.name}"

    def compare(self, constant: float, *, is_greater: bool) -> str:
        """Whether its number is greater than a constant, or equal to it; a constant if that never changes."""
        lowest, highest = self.limits
        bound = np.floor(constant)
        if is_greater and not lowest <= bound < highest:
            return f"1'b{int(bound < lowest)}"
        if not is_greater and not (bound == constant and lowest <= bound <= highest):
            return "1'b0"
        number = f"{self.width}'d{int(bound)}"
        if self.is_signed:
            number = f"$signed({self.width}'h{int(bound) % 2**self.width:x})"
        return f"({self.name} {'>' if is_greater else '=='} {number})"


@dataclass(frozen=True)
class Inputs:
    """Ports, the expression of each bit in terms of them, and rows: one number per port, and the bits they mean.

    `clipped` names the columns that are compared with numbers that a port cannot hold.
    """

    ports: list[Port]
    expressions: list[str]
    numbers: NDArray[np.int64]
    bits: NDArray[np.bool_]
    clipped: list[str]


def take_bits(circuit: Circuit, n_rows: int) -> Inputs:
    """One port for the bits of a circuit."""
    bits, n = draw_bits(circuit, n_rows), circuit.n_inputs
    ports = [Port("bits", n, False, "bit i is input i of the circuit")] if n else []
    return Inputs(ports, [f"bits[{i}]" if n > 1 else "bits" for i in range(n)], bits.astype(np.int64), bits, [])


def take_columns(encoder: Encoder, width: int, fraction: int, n_rows: int) -> Inputs:
    """Ports for the columns that have bits, in their order, each followed by the port of its missing bit."""
    if not 1 <= width <= MAX_WIDTH or not 0 <= fraction <= width:
        raise ValueError(
            f"fixed_point must be a width in 1..{MAX_WIDTH} and a fraction in 0..width, got {width} and {fraction}"
        )
    rng = np.random.default_rng(0)
    ports, expressions, numbers, clipped = [], [], [], []
    rows = np.zeros((n_rows, encoder.n_columns))
    named = zip(make_identifiers("x", encoder.names), encoder.columns, strict=True)
    for i, (name, column) in enumerate(named):
        if column.n_bits == 0:
            continue
        port, scale = _make_port(column, name, width, fraction), 1 if is_coded(column) else 2.0**fraction
        with np.errstate(over="ignore"):
            constants = column.tests()[1][: column.n_bits - column.missing] * scale
        ports.append(port)
        numbers.append(rng.choice(list_neighbors(constants, *port.limits), n_rows))
        rows[:, i] = numbers[-1] / scale
        tests = [port.compare(constant, is_greater=isinstance(column, Numeric)) for constant in constants.tolist()]
        if any(test[0] == "1" for test, constant in zip(tests, constants, strict=True) if constant > -np.inf):
            clipped.append(column.name)
        if column.missing:
            ports.append(Port(f"{name}_missing", 1, False, f"1 where {show(column.name)} is missing"))
            numbers.append((rng.random(n_rows) < 0.25).astype(np.int64))
            rows[numbers[-1] == 1, i] = np.nan
            tests = [*(f"~{name}_missing & {test}" for test in tests), f"{name}_missing"]
        expressions += tests
    drawn = np.array(numbers, np.int64).reshape(len(ports), n_rows).T
    return Inputs(ports, expressions, drawn, encode_numbers(encoder, rows), clipped)


def _make_port(column: Column, name: str, width: int, fraction: int) -> Port:
    shown = show(column.name)
    if isinstance(column, Categorical) and is_coded(column):
        n = len(column.values)
        return Port(name, n.bit_length(), False, f"code of {shown}: {list_codes(column)}, {n} or above = any other")
    return Port(name, width, True, f"{shown} * {2**fraction}" if fraction else shown)
