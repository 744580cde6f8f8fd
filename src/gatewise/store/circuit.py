"""Circuits in files: every wire written out, about 3.5 bytes per gate.

In: a `Circuit`. Out: uint8 tensors and a JSON document, equal for equal circuits, and back again.
Invariant: restoring takes memory in proportion to what is stored, and anything inconsistent is a ValueError.
"""

from gatewise.checks import as_integer
from gatewise.circuit import Circuit
from gatewise.store.container import Document, Stored, Tensors, check_names
from gatewise.store.packing import pack_integers, pack_nibbles, unpack_integers, unpack_nibbles

MAX_INPUTS = 2**24  # no file can make a runner allocate more than 128 MB for one 64-row word of each input
MAX_COUNT = 2**31 - 1


def store_circuit(circuit: Circuit) -> Stored:
    """What a file holds of a circuit.

    Examples
    --------
    >>> tensors, document = store_circuit(Circuit(2, [6, 1, 7], [2, 2, 2], [3, 3, 3], [4, 5, 6], [0, 3]))
    >>> tensors["gate"].tolist(), document
    ([22, 7], {'kind': 'circuit', 'n_inputs': 2, 'n_gates': 3, 'n_outputs': 3, 'n_groups': 1})
    """
    check_inputs(circuit.n_inputs)
    tensors = {name: pack_integers(getattr(circuit, name)) for name in ("a", "b", "outputs", "group_ptr")}
    return tensors | {"gate": pack_nibbles(circuit.gate)}, {
        "kind": "circuit",
        "n_inputs": circuit.n_inputs,
        "n_gates": circuit.n_gates,
        "n_outputs": circuit.n_outputs,
        "n_groups": circuit.n_groups,
    }


def restore_circuit(tensors: Tensors, document: Document) -> Circuit:
    """Inverse of `store_circuit`; raises ValueError unless both are complete and consistent.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> restore_circuit(*store_circuit(xor)) == xor
    True
    """
    check_names("tensors", tensors, {"gate", "a", "b", "outputs", "group_ptr"})
    check_names("document", document, {"kind", "n_inputs", "n_gates", "n_outputs", "n_groups"})
    n_inputs = as_integer("n_inputs", document["n_inputs"], 0, MAX_INPUTS)
    n_gates, n_outputs, n_groups = (
        as_integer(name, document[name], 0, MAX_COUNT) for name in ("n_gates", "n_outputs", "n_groups")
    )
    return Circuit(
        n_inputs,
        gate=unpack_nibbles(tensors["gate"], n_gates),
        a=unpack_integers(tensors["a"], n_gates),
        b=unpack_integers(tensors["b"], n_gates),
        outputs=unpack_integers(tensors["outputs"], n_outputs),
        group_ptr=unpack_integers(tensors["group_ptr"], n_groups + 1),
    )


def check_inputs(n_inputs: int) -> None:
    """Raise ValueError if a circuit has more inputs than a file may say.

    Examples
    --------
    >>> check_inputs(784)
    """
    if n_inputs > MAX_INPUTS:
        raise ValueError(f"n_inputs must be at most {MAX_INPUTS} in a file, got {n_inputs}")
