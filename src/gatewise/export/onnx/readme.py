"""README.md of an export to ONNX: inputs, outputs, and how to run it.

In: the file and what it was made of. Out: Markdown.
"""

import json

import onnx

from gatewise.circuit import Circuit
from gatewise.encode import Categorical, Encoder
from gatewise.export.explain import explain_answer, table_cell
from gatewise.export.onnx.encoder import holds_strings
from gatewise.model import Model

README = """# {name}

`{name}.onnx` is a {what} as ONNX, written by gatewise: {n_nodes} nodes of the standard operators, opset {opset}, for
{n_gates} gates.

- `check.py`: exits with 0 if the file gives the answers in `vectors.json`, which come from gatewise's reference
  evaluator: `pip install onnxruntime`, then `python check.py`.

## Inputs

| input | type | shape |
|---|---|---|
{inputs}

{note}

## Outputs

| output | type | shape |
|---|---|---|
{outputs}
{answer}"""

NUMBERS = """A row has a number a column, in the order at fit{names}. NaN is a missing number."""
COLUMNS = """Each input is a column. NaN is a missing number, the empty string a missing string; a string that is no
category is none of them."""
BITS = "Bit i is input i of the circuit."


def write_readme(content: bytes, source: Model | Circuit, name: str) -> str:
    """The README."""
    model = onnx.load_from_string(content)
    return README.format(
        name=name,
        what="circuit" if isinstance(source, Circuit) else "model",
        n_nodes=len(model.graph.node),
        opset=model.opset_import[0].version,
        n_gates=(source.circuit if isinstance(source, Model) else source).n_gates,
        inputs="\n".join(map(_describe, model.graph.input)),
        note=_explain_inputs(source.encoder) if isinstance(source, Model) else BITS,
        outputs="\n".join(map(_describe, model.graph.output)),
        answer=explain_answer(source),
    )


def _describe(value: onnx.ValueInfoProto) -> str:
    tensor = value.type.tensor_type
    kind = onnx.TensorProto.DataType.Name(tensor.elem_type).lower()
    shape = ", ".join(str(size.dim_param or size.dim_value) for size in tensor.shape.dim)
    return f"| `{table_cell(json.dumps(value.name))}` | {kind} | ({shape}) |"


def _explain_inputs(encoder: Encoder) -> str:
    if not any(holds_strings(column) for column in encoder.columns):
        names = ": " + ", ".join(json.dumps(column.name) for column in encoder.columns) if encoder.named else ""
        return NUMBERS.format(names=names)
    listed = [
        f"- {json.dumps(column.name)}: {', '.join(json.dumps(value) for value in column.values)}"
        for column in encoder.columns
        if isinstance(column, Categorical) and holds_strings(column)
    ]
    return "\n".join([COLUMNS, "", *listed])
