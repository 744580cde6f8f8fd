"""The ONNX file of a model or circuit: encoder, gates and head as a graph of standard operators.

In: a model or a circuit. Out: bytes.
Invariant: labels and scores are those of the model, bit for bit; equal models give equal bytes.
"""

import numpy as np
import onnx

from gatewise.circuit import Circuit
from gatewise.export.onnx.encoder import Encoded, Number, add_encoder
from gatewise.export.onnx.graph import Graph, add_circuit
from gatewise.heads import LOGIT_MARGIN, Affine, Classes, Exponential, Logit
from gatewise.model import Model

OPSET = 19  # the first whose Equal compares strings
IR_VERSION = 9  # that of the releases with this opset
Output = tuple[str, int, list[str | int]]


def write_onnx(source: Model | Circuit, number: Number = "float64") -> bytes:
    """The file, for numbers of a type; see `gatewise.export.to_onnx`."""
    if number not in ("float32", "float64"):
        raise ValueError(f"dtype must be float32 or float64, got {number!r:.60}")
    graph = Graph()
    if isinstance(source, Circuit):
        encoded, outputs = _write_circuit(graph, source)
    else:
        encoded, outputs = _write_model(graph, source, number)
    results = [onnx.helper.make_tensor_value_info(*output) for output in outputs]
    body = onnx.helper.make_graph(graph.nodes, "gatewise", encoded.inputs, results, graph.constants)
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    made = onnx.helper.make_model(body, producer_name="gatewise", opset_imports=opsets, ir_version=IR_VERSION)
    content: bytes = made.SerializeToString(deterministic=True)
    return content


def _write_circuit(graph: Graph, circuit: Circuit) -> tuple[Encoded, list[Output]]:
    given = onnx.helper.make_tensor_value_info("bits", onnx.TensorProto.BOOL, ["n_rows", circuit.n_inputs])
    columns = graph.add("Transpose", "bits", perm=[1, 0])
    n_rows = graph.add("Shape", "bits", start=0, end=1)
    state = add_circuit(graph, circuit, [(columns, np.arange(circuit.n_inputs))], n_rows)
    graph.add("Transpose", state.read(circuit.outputs), perm=[1, 0], output="outputs")
    return Encoded([given], [], n_rows), [("outputs", onnx.TensorProto.BOOL, ["n_rows", circuit.n_outputs])]


def _write_model(graph: Graph, model: Model, number: Number) -> tuple[Encoded, list[Output]]:
    encoded = add_encoder(graph, model.encoder, number)
    state = add_circuit(graph, model.circuit, encoded.bits, encoded.n_rows)
    groups = state.read(model.circuit.outputs.reshape(model.head.n_groups, model.head.group_size))
    bits = graph.add("Cast", groups, to=onnx.TensorProto.INT32)
    sums = graph.add("ReduceSum", bits, graph.constant(np.array([1])), keepdims=0)
    counts = graph.add("Transpose", sums, perm=[1, 0])
    outputs = _add_classes if isinstance(model.head, Classes) else _add_values
    return encoded, outputs(graph, model.head, counts)  # type: ignore[arg-type]


def _add_classes(graph: Graph, head: Classes, counts: str) -> list[Output]:
    labels = head.label_array
    if labels.dtype == object:
        raise ValueError(f"labels must be of one type for ONNX, got {head.labels!r:.100}; convert them, as by str")
    strings = labels.dtype.kind == "U"
    index = graph.add("ArgMax", counts, axis=1, keepdims=0, select_last_index=0)
    graph.add("Gather", graph.constant(labels.astype(object) if strings else labels), index, axis=0, output="label")
    exact = graph.add("Cast", counts, to=onnx.TensorProto.DOUBLE)
    graph.add("Div", exact, graph.constant(head.tau), output="scores")
    graph.add("Softmax", "scores", axis=1, output="probabilities")
    kind = onnx.TensorProto.STRING if strings else onnx.helper.np_dtype_to_tensor_dtype(labels.dtype)
    shape: list[str | int] = ["n_rows", head.n_groups]
    scores: list[Output] = [(name, onnx.TensorProto.DOUBLE, shape) for name in ("scores", "probabilities")]
    return [("label", kind, ["n_rows"]), *scores]


def _add_values(graph: Graph, head: Affine, counts: str) -> list[Output]:
    exact = graph.add("Cast", counts, to=onnx.TensorProto.DOUBLE)
    shares = graph.add("Div", exact, graph.constant(float(head.group_size)))
    if isinstance(head, Logit):
        inner = graph.add("Mul", graph.constant(1 - 2 * LOGIT_MARGIN), shares)
        inner = graph.add("Add", graph.constant(LOGIT_MARGIN), inner)
        shares = graph.add("Log", graph.add("Div", inner, graph.add("Sub", graph.constant(1.0), inner)))
    scaled = graph.add("Mul", shares, graph.constant(head.scale))
    if head.n_groups > 1:
        graph.add("Add", scaled, graph.constant(head.offset), output="value")
        return [("value", onnx.TensorProto.DOUBLE, ["n_rows", head.n_groups])]
    shifted = graph.add("Add", scaled, graph.constant(head.offset))
    if isinstance(head, Exponential):
        shifted = graph.add("Exp", shifted)
    graph.add("Squeeze", shifted, graph.constant(np.array([1])), output="value")
    return [("value", onnx.TensorProto.DOUBLE, ["n_rows"])]
