"""Verilog-2001 of a model or circuit: synthesizable module, self-checking testbench, vectors, and a page about them.

In: a model or a circuit. Out: the files of a folder, by name.
Invariant: outputs are those of `gatewise.run.reference`; equal models give equal bytes.
"""

from gatewise.circuit import Circuit
from gatewise.export.comparisons import warn_of_range
from gatewise.export.package import warn_large
from gatewise.export.pins import HeadForm, as_comment, check_name, name_pins
from gatewise.export.source import take_apart
from gatewise.export.verilog.bench import write_readme, write_testbench, write_vectors
from gatewise.export.verilog.cells import Cells, fill_cells
from gatewise.export.verilog.compressors import LutInputs
from gatewise.export.verilog.module import Module
from gatewise.export.verilog.ports import Inputs, take_bits, take_columns
from gatewise.heads import Classes
from gatewise.model import Model


def to_verilog(
    source: Model | Circuit,
    *,
    name: str = "model",
    head: HeadForm | None = None,
    fixed_point: tuple[int, int] | None = None,
    pipeline: int | None = None,
    lut_inputs: LutInputs = 6,
    n_vectors: int = 256,
) -> dict[str, bytes]:
    """A model, or a circuit, as a Verilog module with its testbench.

    Parameters
    ----------
    source : Model or Circuit
    name : str
        Of the module and of the files.
    head : {"bits", "counts", "class"}, optional
        Whether the outputs are the circuit's own, the count of each group, or the index of the largest and the counts.
        By default "class" for a model of classes, "counts" for one of values, "bits" for a circuit.
    fixed_point : (width, fraction), optional
        The inputs are raw columns, numbers in two's complement with so many bits, and so many of them below the point.
        A warning names columns that are compared with numbers that do not fit. By default the input is the vector of
        the encoder's bits.
    pipeline : int, optional
        Levels of gates between two registers; by default there are none, and the module is combinational.
    lut_inputs : {6, 4}
        Inputs of the lookup tables of the FPGA; counts are made of sums that fit them.
    n_vectors : int
        Random rows that the testbench checks.

    Returns
    -------
    dict of str to bytes
        ``NAME.v``, ``NAME_tb.v``, ``vectors.txt`` and ``README.md``, which states ports, bit order and latency.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> sorted(to_verilog(xor, name="xor2"))
    ['README.md', 'vectors.txt', 'xor2.v', 'xor2_tb.v']
    """
    circuit, model_head = take_apart(source)
    warn_large(circuit.n_gates, "simplify a circuit, or train a smaller network")
    default: HeadForm = "bits" if model_head is None else "class" if isinstance(model_head, Classes) else "counts"
    cells = _make_cells(circuit, head or default, pipeline, lut_inputs, is_encoded=fixed_point is not None)
    comments = [as_comment(bit) for bit in name_pins(source).input_names]
    inputs = _take_inputs(source, fixed_point, n_vectors)
    module = Module(check_name(name), inputs, cells, comments, fixed_point is not None)
    files = {
        f"{name}.v": module.write(),
        f"{name}_tb.v": write_testbench(module),
        "vectors.txt": write_vectors(module, circuit),
        "README.md": write_readme(module, source),
    }
    return {file: text.encode() for file, text in files.items()}


def _make_cells(
    circuit: Circuit, head: HeadForm, pipeline: int | None, lut_inputs: LutInputs, *, is_encoded: bool
) -> Cells:
    """The cells of a circuit and its head, after a stage for the encoder if that is to be in a pipeline."""
    if pipeline is not None and pipeline < 1:
        raise ValueError(f"pipeline must be at least 1, got {pipeline}")
    if lut_inputs not in (4, 6):
        raise ValueError(f"lut_inputs must be 4 or 6, got {lut_inputs}")
    if head not in ("bits", "counts", "class"):
        raise ValueError(f"head must be bits, counts or class, got {head!r}")
    cells = Cells(circuit.n_inputs, pipeline, int(is_encoded and pipeline is not None), lut_inputs)
    fill_cells(cells, circuit, head)
    return cells


def _take_inputs(source: Model | Circuit, fixed_point: tuple[int, int] | None, n_rows: int) -> Inputs:
    if n_rows < 1:
        raise ValueError(f"n_vectors must be at least 1, got {n_rows}")
    if fixed_point is None:
        return take_bits(take_apart(source)[0], n_rows)
    if not isinstance(source, Model):
        raise ValueError("source must be a Model to have columns, got a Circuit; leave out fixed_point")
    width, fraction = fixed_point
    inputs = take_columns(source.encoder, width, fraction, n_rows)
    warn_of_range(inputs.clipped, f"{width} bits, {fraction} of them below the point,", "fixed_point")
    return inputs
