"""ONNX of a model or circuit: a graph of standard operators, a program that checks it, and a README.

In: a model or a circuit. Out: a package of four files.
Invariant: labels and scores are those of the model, bit for bit; equal models give equal bytes.
"""

try:
    import onnx as _onnx  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("gatewise.export.onnx needs onnx: pip install 'gatewise[export]'", name="onnx") from error

from gatewise.circuit import Circuit
from gatewise.export.emit import Package
from gatewise.export.names import check_name
from gatewise.export.onnx.check import write_check, write_vectors
from gatewise.export.onnx.encoder import Number
from gatewise.export.onnx.model import write_onnx
from gatewise.export.onnx.readme import write_readme
from gatewise.model import Model

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
        ``NAME.onnx``, for opset 19; ``check.py``, ``vectors.json`` and ``README.md``.

    Examples
    --------
    >>> sorted(to_onnx(Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1]), name="parity"))
    ['README.md', 'check.py', 'parity.onnx', 'vectors.json']
    """
    content = write_onnx(source, dtype)
    texts = {
        "check.py": write_check(check_name(name)),
        "vectors.json": write_vectors(source, dtype),
        "README.md": write_readme(content, source, name),
    }
    return {f"{name}.onnx": content} | {file: text.encode() for file, text in texts.items()}
