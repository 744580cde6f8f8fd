"""Netlists as back ends of the differential test: (circuit, rows) -> output bits, computed by someone else's tool."""

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession

from gatewise import Circuit
from gatewise.abc import run_abc
from gatewise.aiger import from_aiger
from gatewise.export.aiger import to_aiger
from gatewise.export.blif import to_blif
from gatewise.export.onnx import to_onnx
from gatewise.run.reference import evaluate_outputs

Rows = NDArray[np.bool_]
Bits = NDArray[np.bool_]


def run_aiger(circuit: Circuit, rows: Rows) -> Bits:
    """The outputs of the AIGER file after ABC has read and written it."""
    return _read_back(circuit, rows, "net.aig", to_aiger(circuit))


def run_ascii_aiger(circuit: Circuit, rows: Rows) -> Bits:
    """The outputs of the AIGER file for human readers, which ABC does not read."""
    return evaluate_outputs(from_aiger(to_aiger(circuit, ascii=True)), rows)


def run_blif(circuit: Circuit, rows: Rows) -> Bits:
    """The outputs of the BLIF file after ABC has read and converted it."""
    return _read_back(circuit, rows, "net.blif", to_blif(circuit).encode())


def _read_back(circuit: Circuit, rows: Rows, name: str, content: bytes) -> Bits:
    if circuit.n_outputs == 0:  # ABC refuses such networks
        return np.zeros((len(rows), 0), bool)
    _, written = run_abc(f"read {name}; strash; write_aiger out.aig", {name: content}, "out.aig")
    return evaluate_outputs(from_aiger(written), rows)


def run_onnx(circuit: Circuit, rows: Rows) -> Bits:
    """The outputs of the ONNX file, run by onnxruntime."""
    session = InferenceSession(to_onnx(circuit), providers=["CPUExecutionProvider"])
    outputs: Bits = session.run(["outputs"], {"bits": rows})[0]
    return outputs
