"""CUDA C++ for many rows at once: a header, a source, what stands in for CUDA without a GPU, a check, and a README.

In: a model, or a circuit, whose rows then are bits. Out: a package of five files.
Invariant: the code gives the counts, scores and answers of the model, bit for bit, whether nvcc compiles it or, with
cpu.h, a C++ compiler; equal models give equal bytes.
"""

from gatewise.circuit import Circuit
from gatewise.export.c import make_source
from gatewise.export.cuda.check import write_check
from gatewise.export.cuda.readme import write_readme
from gatewise.export.cuda.shim import CPU
from gatewise.export.cuda.source import write_header, write_source
from gatewise.export.emit import Package
from gatewise.export.questions import ask
from gatewise.model import Model

__all__ = ["to_cuda"]

RESERVED = ("cpu", "math")


def to_cuda(model: Model | Circuit, *, name: str = "model", dtype: str | None = None) -> Package:
    """A model as CUDA C++, with a program that checks it on a GPU, or without.

    Parameters
    ----------
    model : Model or Circuit
        Of a circuit, columns are its inputs, true unless they are 0.
    name : str
        What the files and all names start with.
    dtype : {"float64", "float32", "int32", "int16", "uint8"}, optional
        Type of the numbers of a row; float64 by default, uint8 for a circuit.

    Returns
    -------
    dict of file name to bytes
        ``name.h``, ``name.cu``, ``cpu.h``, ``check.cu`` and ``README.md``.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> sorted(to_cuda(xor, name="parity"))
    ['README.md', 'check.cu', 'cpu.h', 'parity.cu', 'parity.h']
    """
    if name in RESERVED:
        raise ValueError(f"name must be none of {', '.join(RESERVED)}, which other files have, got {name!r}")
    source = make_source(model, style="table", name=name, dtype=dtype)
    texts = {
        f"{name}.h": write_header(source),
        f"{name}.cu": write_source(source, ask(source.encoder, source.dtype)),
        "cpu.h": CPU.lstrip("\n"),
        "check.cu": write_check(source),
        "README.md": write_readme(source),
    }
    return {file: text.encode() for file, text in texts.items()}
