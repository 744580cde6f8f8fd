"""What checks an ONNX file: rows with their answers, and a program that runs them by onnxruntime.

In: a model or a circuit. Out: JSON, and Python.
Invariant: answers come from `gatewise.run.reference`, not from what the graph was written from.
"""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.circuit import Circuit
from gatewise.encode import Categorical, Encoder
from gatewise.export.onnx.encoder import Number, holds_strings, name_input
from gatewise.export.vectors import N_ROWS, draw_vectors
from gatewise.heads import Classes, Logit
from gatewise.model import Model
from gatewise.run.reference import evaluate_outputs

LOGIT_TOLERANCE = 1e-12
"""What the logarithm of a runtime may differ by, relative to a value."""

CHECK = '''"""Exits with 0 if NAME.onnx gives the answers in vectors.json, which come from another evaluator.

Needs pip install onnxruntime.
"""

import json
import sys
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession

FOLDER = Path(__file__).parent
TYPES = {"tensor(double)": np.float64, "tensor(float)": np.float32, "tensor(string)": object, "tensor(bool)": bool}

vectors = json.loads((FOLDER / "vectors.json").read_text())
session = InferenceSession(str(FOLDER / "NAME.onnx"), providers=["CPUExecutionProvider"])
inputs = {}
for each in session.get_inputs():
    given = np.array(vectors["inputs"][each.name], TYPES[each.type])
    inputs[each.name] = given.reshape(vectors["n_rows"], each.shape[1])
for name, wanted in vectors["outputs"].items():
    (found,) = session.run([name], inputs)
    tolerance = vectors["tolerance"].get(name)
    same = found.tolist() == wanted if tolerance is None else np.allclose(found, wanted, rtol=tolerance, atol=0)
    if not same:
        sys.exit(f"FAIL: {name} differs from vectors.json")
print(f"PASS: {vectors['n_rows']} rows")
'''


def write_check(name: str) -> str:
    """The program, for a file of that name."""
    return CHECK.replace("NAME", name)


def write_vectors(source: Model | Circuit, number: Number) -> str:
    """The rows; NaN and infinities are written as Python's json reads them."""
    tolerance = {}
    if isinstance(source, Circuit):
        rows = np.random.default_rng(0).integers(0, 2, (N_ROWS, source.n_inputs)).astype(bool)
        inputs, outputs = {"bits": rows.tolist()}, {"outputs": evaluate_outputs(source, rows).tolist()}
    else:
        vectors = draw_vectors(source.encoder, source.circuit, number)
        rows, inputs, outputs = vectors.rows, _give(source.encoder, vectors.rows), _answer(source, vectors.counts)
        tolerance = {"value": LOGIT_TOLERANCE} if isinstance(source.head, Logit) else {}
    found = {"n_rows": len(rows), "inputs": inputs, "outputs": outputs, "tolerance": tolerance}
    return json.dumps(found) + "\n"


def _give(encoder: Encoder, rows: NDArray[Any]) -> dict[str, list[Any]]:
    """Values of each input; where rows have positions of categories, the categories."""
    if not any(holds_strings(column) for column in encoder.columns):
        return {"X": rows.tolist()}
    given = {}
    for column, numbers in zip(encoder.columns, rows.T.tolist(), strict=True):
        if not column.n_bits:
            continue
        given[name_input(column.name)] = _name_values(column, numbers) if isinstance(column, Categorical) else numbers
    return given


def _name_values(column: Categorical, numbers: list[float]) -> list[Any]:
    """The strings that numbers stand for: positions, NaN for a missing value, and others for an unknown one."""
    if not holds_strings(column):
        return numbers
    unknown = "?" + max(map(str, column.values), key=len, default="")
    missing = "" if column.missing else unknown
    values = dict(enumerate(column.values))
    return [missing if number != number else values.get(number, unknown) for number in numbers]  # type: ignore[call-overload]


def _answer(model: Model, counts: NDArray[np.integer[Any]]) -> dict[str, list[Any]]:
    scores = model.head.scores(counts)
    if isinstance(model.head, Classes):
        labels = model.head.label_array[counts.argmax(axis=1)]
        return {"label": labels.tolist(), "scores": scores.tolist()}
    return {"value": (scores[:, 0] if model.head.n_groups == 1 else scores).tolist()}
