"""AIGER of a model or circuit, with names: what logic synthesis, model checkers and SAT tools read."""

from gatewise import aiger
from gatewise.circuit import Circuit
from gatewise.export.named import HeadForm, name_pins
from gatewise.model import Model


def to_aiger(source: Model | Circuit, *, head: HeadForm = "bits", ascii: bool = False) -> bytes:
    """A model's circuit, or a circuit, as an AIGER file; inputs are the encoder's bits.

    Parameters
    ----------
    source : Model or Circuit
    head : {"bits", "counts", "class"}
        Whether outputs are the circuit's own, the count of each group as a binary number, or the index of the largest.
    ascii : bool
        Whether to write aag instead of aig.

    Returns
    -------
    bytes
        With a symbol table: inputs in the words of `Model.describe_bits`, outputs as `name_pins` names them.

    Examples
    --------
    >>> print(to_aiger(Circuit(2, gate=[1], a=[2], b=[3], outputs=[4], group_ptr=[0, 1]), ascii=True).decode())
    aag 3 2 0 1 1
    2
    4
    6
    6 4 2
    i0 x0
    i1 x1
    o0 bit_0_0
    <BLANKLINE>
    """
    named = name_pins(source, head)
    names = {"input_names": named.input_names, "output_names": named.output_names}
    return aiger.to_aiger(named.circuit, ascii=ascii, **names)
