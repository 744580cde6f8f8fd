"""Inputs of a Verilog module: bits, or raw columns as fixed-point numbers and codes, compared with constants.

In: an encoder and a fixed-point format. Out: ports, the expression of each bit, and random rows for a testbench.
Invariant: bits are those of `Encoder.encode` for every value that a port can hold. A fixed-point port holds k where the
value is k / 2**fraction, so x > t just where k > floor(t * 2**fraction), which is a whole number.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gatewise.encode import Categorical, Encoder, Numeric
from gatewise.encode.columns import Column
from gatewise.export.names import as_comment, readable
from gatewise.export.questions import is_coded

MAX_WIDTH = 53  # every number of a port is a float64


@dataclass(frozen=True)
class FixedPoint:
    """Format of the ports of numbers: two's complement, `width` bits, the last `fraction` of them below the point."""

    width: int
    fraction: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.width <= MAX_WIDTH or not 0 <= self.fraction <= self.width:
            raise ValueError(
                f"fixed_point must be a width in 1..{MAX_WIDTH} and a fraction in 0..width, "
                f"got {self.width} and {self.fraction}"
            )

    @property
    def highest(self) -> int:
        """The largest number of a port."""
        return (1 << self.width - 1) - 1

    def literal(self, number: int) -> str:
        """A number of a port in Verilog."""
        return f"$signed({self.width}'h{number % 2**self.width:x})"


@dataclass(frozen=True)
class Port:
    """An input: `meaning` says in words what it holds."""

    name: str
    width: int
    is_signed: bool
    meaning: str

    def declare(self) -> str:
        """The declaration in a list of ports."""
        return f"input wire{' signed' * self.is_signed}{f' [{self.width - 1}:0]' * (self.width > 1)} {self.name}"


@dataclass(frozen=True)
class Inputs:
    """Ports, the expression of each bit in terms of them, and rows: one number a port, and the bits they mean."""

    ports: list[Port]
    expressions: list[str]
    numbers: NDArray[np.int64]
    bits: NDArray[np.bool_]


def make_inputs(encoder: Encoder, fixed_point: FixedPoint, n_rows: int, rng: np.random.Generator) -> Inputs:
    """Ports for the columns that have bits, in their order, each followed by the port of its missing bit."""
    ports, expressions, numbers = [], [], []
    table: list[list[object]] = []
    for i, column in enumerate(encoder.columns):
        if column.n_bits == 0:
            table.append([0.0] * n_rows)
            continue
        name = f"x{i}_{readable(column.name)}".rstrip("_")
        port = _make_port(column, name, fixed_point)
        drawn = _draw(column, port, fixed_point, n_rows, rng)
        missing = (rng.random(n_rows) < 0.25) & column.missing
        ports.append(port)
        numbers.append(drawn)
        tests = [_compare(column, value, port, fixed_point) for value in _constants(column)]
        if column.missing:
            flag = f"{name}_missing"
            ports.append(Port(flag, 1, False, f"1 where {as_comment(column.name)} is missing"))
            numbers.append(missing.astype(np.int64))
            tests = [*(f"~{flag} & {test}" for test in tests), flag]
        expressions += tests
        values = [_value(column, number, fixed_point) for number in drawn.tolist()]
        table.append([None if gone else value for value, gone in zip(values, missing.tolist(), strict=True)])
    rows = [list(row) for row in zip(*table, strict=True)] if table else [[] for _ in range(n_rows)]
    bits = encoder.encode(rows).unpack() if encoder.n_bits else np.zeros((n_rows, 0), bool)
    return Inputs(ports, expressions, np.array(numbers, np.int64).reshape(len(ports), n_rows).T, bits)


def _constants(column: Column) -> list[float] | list[int]:
    """What the bits compare with: thresholds, categories that are numbers, or positions of categories."""
    if isinstance(column, Numeric):
        thresholds: list[float] = column.thresholds.tolist()
        return thresholds
    return list(range(len(column.values))) if is_coded(column) else [float(value) for value in column.values]


def _make_port(column: Column, name: str, fixed_point: FixedPoint) -> Port:
    shown = as_comment(column.name)
    if isinstance(column, Categorical) and is_coded(column):
        codes = ", ".join(f"{i} = {as_comment(repr(value))}" for i, value in enumerate(column.values))
        n = len(column.values)
        return Port(name, n.bit_length(), False, f"code of {shown}: {codes}, {n} or above = any other")
    scale = f"{shown} * {2**fixed_point.fraction}" if fixed_point.fraction else shown
    return Port(name, fixed_point.width, True, scale)


def _compare(column: Column, value: float, port: Port, fixed_point: FixedPoint) -> str:
    """The bit of one threshold or category."""
    if is_coded(column):
        return f"({port.name} == {port.width}'d{value})"
    if isinstance(column, Numeric):
        if value == -np.inf:
            return "1'b1"
        bound = math.floor(Fraction(value) * 2**fixed_point.fraction)
        if not -fixed_point.highest - 1 <= bound < fixed_point.highest:
            return f"1'b{int(bound < 0)}"
        return f"({port.name} > {fixed_point.literal(bound)})"
    exact = Fraction(value) * 2**fixed_point.fraction
    if exact.denominator > 1 or not -fixed_point.highest - 1 <= exact <= fixed_point.highest:
        return "1'b0"
    return f"({port.name} == {fixed_point.literal(int(exact))})"


def _draw(
    column: Column, port: Port, fixed_point: FixedPoint, n_rows: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Numbers for a port: codes, or numbers at and around its constants, and the extremes."""
    if is_coded(column):
        return rng.integers(0, 2**port.width, n_rows)
    finite = [value for value in _constants(column) if value != -np.inf]
    centers = [math.floor(Fraction(value) * 2**fixed_point.fraction) for value in finite] or [0]
    near = rng.choice(np.array(centers, object), n_rows) + rng.integers(-2, 3, n_rows)
    anywhere = rng.integers(-fixed_point.highest - 1, fixed_point.highest + 1, n_rows)
    mixed = np.where(rng.random(n_rows) < 0.9, near, anywhere)
    return np.clip(mixed, -fixed_point.highest - 1, fixed_point.highest).astype(np.int64)


def _value(column: Column, number: int, fixed_point: FixedPoint) -> object:
    """The raw value that a number of a port stands for."""
    if isinstance(column, Categorical) and is_coded(column):
        other = "".join(str(value) for value in column.values) + "?"
        return column.values[number] if number < len(column.values) else other
    return number / 2**fixed_point.fraction
