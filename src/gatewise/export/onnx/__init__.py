"""ONNX of a model or circuit: a graph of standard operators, a program that checks it, and a README.

In: a model or a circuit. Out: a package of four files.
Invariant: labels and scores are those of the model, bit for bit; equal models give equal bytes.
"""

# ruff: noqa: E402 (a package that is missing is named before anything imports it)

from typing import Any

from numpy.typing import NDArray

from gatewise.circuit import Circuit
from gatewise.extras import require

require("onnx", "export", needed_by="gatewise.export.onnx")

import onnx

from gatewise.encode import Categorical, Encoder
from gatewise.export.onnx.encoder import Number, holds_strings
from gatewise.export.onnx.model import OPSET, write_onnx
from gatewise.export.package import Package, read_template
from gatewise.export.page import explain_head, fill_page, make_table, show
from gatewise.export.pins import check_name
from gatewise.export.source import take_apart
from gatewise.export.vectors import draw_bits, draw_vectors, write_matrices
from gatewise.heads import Classes
from gatewise.model import Model
from gatewise.run.reference import evaluate_outputs

__all__ = ["to_onnx", "write_onnx"]


def to_onnx(source: Model | Circuit, *, name: str = "model", dtype: Number = "float64") -> Package:
    """A model, or a circuit, as an ONNX file.

    A model takes raw rows. If all its columns are numbers, the one input is X, (n_rows, n_columns); otherwise each
    column that the model reads is an input of its own, (n_rows, 1), strings or numbers, named like the column; a column
    with the name of an output is X/name. NaN is a missing number, the empty string a missing string. A circuit takes
    ``bits``, bool, (n_rows, n_inputs).

    ====================  ==================================================================================
    source                outputs
    ====================  ==================================================================================
    model of classes      label (n_rows,); scores and probabilities, float64, (n_rows, n_classes)
    model of values       value, float64, (n_rows,), or (n_rows, n_groups) if there are several
    circuit               outputs, bool, (n_rows, n_outputs)
    ====================  ==================================================================================

    Parameters
    ----------
    source : Model or Circuit
    name : str
        Of the file.
    dtype : {"float64", "float32"}
        Type of the inputs that are numbers; answers are exact for every number that it can hold.

    Returns
    -------
    dict of str to bytes
        ``NAME.onnx``, for opset 19; ``check.py``, ``vectors.txt`` and ``README.md``.

    Examples
    --------
    >>> sorted(to_onnx(Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1]), name="parity"))
    ['README.md', 'check.py', 'parity.onnx', 'vectors.txt']
    """
    content = write_onnx(source, dtype)
    texts = {
        "check.py": read_template("onnx/check.py"),
        "vectors.txt": _write_vectors(source, dtype),
        "README.md": _write_page(content, source, name),
    }
    return {f"{check_name(name)}.onnx": content} | {file: text.encode() for file, text in texts.items()}


def _write_vectors(source: Model | Circuit, number: Number) -> str:
    if isinstance(source, Circuit):
        bits = draw_bits(source)
        return write_matrices({"rows": bits.tolist(), "outputs": evaluate_outputs(source, bits).tolist()})
    vectors = draw_vectors(source.encoder, source.circuit, number)
    scores = source.head.scores(vectors.counts).tolist()
    answers = {"value": scores}
    if isinstance(source.head, Classes):
        answers = {"label": [[label] for label in source.head.predict(vectors.counts).tolist()], "scores": scores}
    return write_matrices({"rows": _name_strings(source.encoder, vectors.rows)} | answers)


def _name_strings(encoder: Encoder, rows: NDArray[Any]) -> list[list[Any]]:
    """Rows of what the graph takes: all numbers, or of the columns that are read, with strings for their positions."""
    given: list[list[Any]] = rows.T.tolist()
    for i, column in enumerate(encoder.columns):
        if isinstance(column, Categorical) and holds_strings(column):
            unknown = "?" + max(map(str, column.values), key=len, default="")
            strings: dict[float, Any] = dict(enumerate(column.values))
            missing = "" if column.missing else unknown
            given[i] = [missing if number != number else strings.get(number, unknown) for number in given[i]]
    if any(map(holds_strings, encoder.columns)):
        given = [values for values, column in zip(given, encoder.columns, strict=True) if column.n_bits]
    return [list(row) for row in zip(*given, strict=True)] or [[]] * len(rows)


def _write_page(content: bytes, source: Model | Circuit, name: str) -> str:
    graph = onnx.load_from_string(content).graph
    circuit, head = take_apart(source)
    titles = ["type", "shape"]
    fields = {
        "name": name,
        "kind": "circuit" if head is None else "model",
        "n_nodes": len(graph.node),
        "opset": OPSET,
        "n_gates": circuit.n_gates,
        "inputs": make_table(["input", *titles], map(_describe, graph.input)),
        "note": _explain_inputs(source.encoder) if isinstance(source, Model) else "Bit i is input i of the circuit.",
        "outputs": make_table(["output", *titles], map(_describe, graph.output)),
        "head": explain_head(head),
    }
    return fill_page("onnx/README.md", fields)


def _describe(value: onnx.ValueInfoProto) -> tuple[str, str, str]:
    tensor = value.type.tensor_type
    kind = onnx.TensorProto.DataType.Name(tensor.elem_type).lower()
    shape = ", ".join(str(size.dim_param or size.dim_value) for size in tensor.shape.dim)
    return show(value.name), kind, f"({shape})"


def _explain_inputs(encoder: Encoder) -> str:
    columns = [c for c in encoder.columns if isinstance(c, Categorical) and holds_strings(c)]
    if columns:
        rule = "Each input is a column. NaN is a missing number, the empty string a missing string."
        return "\n".join(
            [
                rule,
                "Strings are compared with:",
                "",
                *(f"- {show(c.name)}: {', '.join(map(show, c.values))}" for c in columns),
            ]
        )
    names = f": {', '.join(map(show, encoder.names))}" if encoder.named else ""
    return f"A row has a number per column, in the order at fit{names}. NaN is a missing number."
