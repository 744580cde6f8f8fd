"""ONNX nodes of an encoder: raw columns to bits.

In: a graph and an encoder. Out: the graph's inputs, and bool tensors with a row for each of some bits.
Invariant: bits are those of `Encoder.encode`, for every number that the type of the inputs can hold.

If all columns are numbers, the graph has one input X, (n_rows, n_columns); otherwise each column that has bits is an
input of its own, (n_rows, 1), strings or numbers.
"""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray

from gatewise.encode import Categorical, Encoder
from gatewise.encode.columns import EQUAL, GREATER, MISSING, Column
from gatewise.export.comparisons import round_constants
from gatewise.export.onnx.graph import Graph

Number: TypeAlias = Literal["float32", "float64"]
TYPES = {"float32": onnx.TensorProto.FLOAT, "float64": onnx.TensorProto.DOUBLE}

RESERVED = ("", "label", "scores", "probabilities", "value")
"""Names of outputs, and the one that means none."""


class Encoded(NamedTuple):
    """What a graph takes, the bits it makes of that, and the tensor of the number of rows."""

    inputs: list[onnx.ValueInfoProto]
    bits: list[tuple[str, NDArray[np.int64]]]
    n_rows: str


def add_encoder(graph: Graph, encoder: Encoder, number: Number) -> Encoded:
    """Append the nodes of an encoder."""
    if all(not holds_strings(column) for column in encoder.columns):
        return _add_matrix(graph, encoder, number)
    return _add_columns(graph, encoder, number)


def holds_strings(column: Column) -> bool:
    """Whether a column is one of strings; raises ValueError if it is one of strings and numbers."""
    if not isinstance(column, Categorical) or column.of_numbers:
        return False
    if not all(isinstance(value, str) for value in column.values):
        raise ValueError(
            f"values of column {column.name!r:.60} must all be strings or all be numbers for ONNX, "
            f"got {column.values!r:.100}; convert them before fitting, as by X[column].astype(str)"
        )
    if column.missing and "" in column.values:
        raise ValueError(
            f"values of column {column.name!r:.60} must not have the empty string for ONNX, where it stands for a "
            "missing value; replace it before fitting"
        )
    return True


def name_input(column: str) -> str:
    """The input of a column: its own name, after X/ if the graph has another use for that name.

    Examples
    --------
    >>> name_input("age"), name_input("value")
    ('age', 'X/value')
    """
    return f"X/{column}" if column in RESERVED or column.startswith(("/", "X/")) else column


def _add_matrix(graph: Graph, encoder: Encoder, number: Number) -> Encoded:
    inputs = [onnx.helper.make_tensor_value_info("X", TYPES[number], ["n_rows", encoder.n_columns])]
    tests = [column.tests() for column in encoder.columns]
    column_idx = np.repeat(np.arange(encoder.n_columns), [column.n_bits for column in encoder.columns])
    questions = np.array([question for questions, _ in tests for question in questions], np.int64)
    constants = np.concatenate([np.empty(0), *(constants for _, constants in tests)])
    columns = graph.add("Transpose", "X", perm=[1, 0])
    bits = []
    for question in (GREATER, EQUAL, MISSING):
        bit_idx = np.flatnonzero(questions == question)
        if len(bit_idx):
            values = graph.gather(columns, column_idx[bit_idx])
            bits.append((_ask(graph, question, values, constants[bit_idx], number), bit_idx))
    return Encoded(inputs, bits, graph.add("Shape", "X", start=0, end=1))


def _add_columns(graph: Graph, encoder: Encoder, number: Number) -> Encoded:
    inputs, bits, first = [], [], 0
    for column in encoder.columns:
        if column.n_bits:
            of_strings = holds_strings(column)
            kind = onnx.TensorProto.STRING if of_strings else TYPES[number]
            name = name_input(column.name)
            inputs.append(onnx.helper.make_tensor_value_info(name, kind, ["n_rows", 1]))
            values = graph.add("Transpose", name, perm=[1, 0])
            tensors = _ask_strings(graph, column, values) if of_strings else _ask_all(graph, column, values, number)
            bits.append((graph.join(tensors), first + np.arange(column.n_bits)))
        first += column.n_bits
    return Encoded(inputs, bits, graph.add("Shape", inputs[0].name, start=0, end=1))


def _ask_strings(graph: Graph, column: Column, values: str) -> list[str]:
    assert isinstance(column, Categorical)
    wanted = [*column.values, *([""] if column.missing else [])]
    return [graph.add("Equal", values, graph.constant(np.array(wanted, object)[:, np.newaxis]))]


def _ask_all(graph: Graph, column: Column, values: str, number: Number) -> list[str]:
    """The bits of a column of numbers: its thresholds or categories, then its missing bit."""
    questions, constants = column.tests()
    n = len(questions) - column.missing
    tensors = [_ask(graph, questions[0], values, constants[:n], number)] if n else []
    return tensors + [graph.add("IsNaN", values)] * column.missing


def _ask(graph: Graph, question: int, values: str, constants: NDArray[np.float64], number: Number) -> str:
    if question == MISSING:
        return graph.add("IsNaN", values)
    rounded = round_constants(question, constants, np.dtype(number))
    return graph.add("Greater" if question == GREATER else "Equal", values, graph.constant(rounded[:, np.newaxis]))
