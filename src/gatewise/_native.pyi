from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

def targets() -> list[str]: ...

class Pool:
    def __init__(self, threads: int) -> None: ...
    @property
    def threads(self) -> int: ...

class Circuit:
    def __init__(
        self,
        n_inputs: int,
        gate: NDArray[np.uint8],
        a: NDArray[np.int32],
        b: NDArray[np.int32],
        outputs: NDArray[np.int32],
        group_ptr: NDArray[np.int32],
    ) -> None: ...

def simplify(
    circuit: Circuit,
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], tuple[int, ...]]: ...
def expand_tables(
    n_inputs: int, tables: NDArray[np.uint64], wires: NDArray[np.int32], n_wires: int
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...

Layout = Literal["bytes", "big", "little", "planes"]

class Engine:
    def __init__(self, circuit: Circuit, *, keep_outputs: bool, target: str, words: int, band: int) -> None: ...
    def counts(self, data: NDArray[np.uint8], n_rows: int, layout: Layout, pool: Pool) -> NDArray[np.int32] | None: ...
    def classify(
        self, data: NDArray[np.uint8], n_rows: int, layout: Layout, pool: Pool
    ) -> NDArray[np.int32] | None: ...
    def outputs(self, data: NDArray[np.uint8], n_rows: int, layout: Layout, pool: Pool) -> NDArray[np.bool_] | None: ...
    @property
    def words(self) -> int: ...
    @property
    def n_slots(self) -> int: ...

class Encoder:
    def __init__(
        self, test_ptr: NDArray[np.uint32], questions: NDArray[np.uint8], values: NDArray[np.float64], target: str
    ) -> None: ...
    def encode(self, table: NDArray[Any], first_column: int, words: NDArray[np.uint64], pool: Pool) -> None: ...

class RelaxedStack:
    def __init__(
        self, n_inputs: int, layers: Sequence[tuple[NDArray[np.int32], NDArray[np.int32], int]], n_groups: int
    ) -> None: ...
    def forward(self, x: Any, coefficients: Any, y: Any, pool: Pool) -> None: ...
    def backward(
        self, x: Any, coefficients: Any, grad_y: Any, grad_coefficients: Any, grad_x: Any, pool: Pool
    ) -> None: ...

def mix(logits: Sequence[Any], gates: Any, temperature: float, hard: bool, coefficients: Any, pool: Pool) -> float: ...
def mix_backward(
    logits: Sequence[Any],
    gates: Any,
    temperature: float,
    grad_coefficients: Any,
    grad_logits: Sequence[Any],
    pool: Pool,
) -> None: ...

class Loss:
    @staticmethod
    def cross_entropy(y: Any, smoothing: float, *, head: tuple[float, float], weight: Any) -> Loss: ...
    @staticmethod
    def binary(y: Any, *, head: tuple[float, float], weight: Any) -> Loss: ...
    @staticmethod
    def squared(y: Any, *, head: tuple[float, float], weight: Any) -> Loss: ...

class TrainStep:
    def __init__(
        self,
        stack: RelaxedStack,
        gates: Any,
        weights: Sequence[Any],
        first: Sequence[Any],
        second: Sequence[Any],
        scales: Sequence[float],
    ) -> None: ...
    def run(
        self,
        x: Any,
        loss: Loss,
        *,
        logits: Sequence[Any] | None,
        temperature: float,
        hard: bool,
        adam: tuple[float, float, float, float, int],
        pool: Pool,
    ) -> tuple[float, float]: ...

class BitStep:
    def __init__(
        self,
        n_inputs: int,
        *,
        wires: Sequence[Any],
        pins: Sequence[Any],
        windows: Sequence[Any],
        n_groups: int,
        gates: Any,
        weights: Sequence[Any],
        first: Sequence[Any],
        second: Sequence[Any],
        scales: Sequence[float],
        frozen: Sequence[bool],
        rounded: Sequence[bool] = ...,
    ) -> None: ...
    def run(
        self, x: Any, loss: Loss, *, temperature: float, adam: tuple[float, float, float, float, int], pool: Pool
    ) -> float: ...

class TableStep:
    def __init__(
        self,
        n_inputs: int,
        *,
        entries: Sequence[Any],
        wires: Sequence[Any],
        pins: Sequence[Any],
        n_groups: int,
        scales: Sequence[float],
        frozen: Sequence[bool],
    ) -> None: ...
    def run(
        self, x: Any, loss: Loss, *, temperature: float, adam: tuple[float, float, float, float, int], pool: Pool
    ) -> float: ...

def grow_terms(
    *,
    planes: NDArray[np.uint64],
    n_rows: int,
    n_ordered: NDArray[np.uint32],
    n_single: NDArray[np.uint32],
    directions: NDArray[np.int8],
    targets: NDArray[np.float32],
    weights: NDArray[np.float32],
    training: Sequence[NDArray[np.uint32]],
    validation: Sequence[NDArray[np.uint32]],
    loss: int,
    base: NDArray[np.float32],
    settings: dict[str, float],
    max_terms: int,
    patience: int,
    enough: float,
    threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], int, NDArray[np.float32]]: ...

class TableSum:
    def __init__(
        self,
        sizes: NDArray[np.uint32],
        constants: NDArray[np.int64],
        tables: Sequence[tuple[Sequence[tuple[int, NDArray[np.uint32]]], NDArray[np.int32]]],
    ) -> None: ...
    def highs(self, low: NDArray[np.uint32], high: NDArray[np.uint32], to: NDArray[np.int64]) -> None: ...

class BoxSearch:
    def __init__(self, sum: TableSum, low: NDArray[np.uint32], high: NDArray[np.uint32], goal: int | None) -> None: ...
    def advance(self, n_boxes: int) -> bool: ...
    @property
    def is_done(self) -> bool: ...
    @property
    def highest(self) -> int: ...
    @property
    def reached(self) -> int: ...
    @property
    def n_boxes(self) -> int: ...
    @property
    def point(self) -> list[int] | None: ...
