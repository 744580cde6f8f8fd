"""Circuits in files: every wire written out, about 3.5 bytes per gate; outputs that are repeated, once.

In: a `Circuit`. Out: uint8 tensors and a JSON document, equal for equal circuits, and back again.
Invariant: restoring takes memory in proportion to what is stored, and anything inconsistent is a ValueError.
"""

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer
from gatewise.circuit import Circuit
from gatewise.store.container import Document, Stored, Tensors, check_names
from gatewise.store.packing import pack_integers, pack_nibbles, unpack_integers, unpack_nibbles

MAX_INPUTS = 2**24  # no file can make a runner allocate more than 128 MB for one 64-row word of each input
MAX_COUNT = 2**31 - 1
MAX_REPEATED = 2**24  # no file can make a reader allocate more than 64 MB for outputs that it does not hold


def store_circuit(circuit: Circuit) -> Stored:
    """What a file holds of a circuit.

    Examples
    --------
    >>> tensors, document = store_circuit(Circuit(2, [6, 1, 7], [2, 2, 2], [3, 3, 3], [4, 5, 6], [0, 3]))
    >>> tensors["gate"].tolist(), document
    ([22, 7], {'kind': 'circuit', 'n_inputs': 2, 'n_gates': 3, 'n_outputs': 3, 'n_groups': 1})
    """
    check_inputs(circuit.n_inputs)
    tensors = {name: pack_integers(getattr(circuit, name)) for name in ("a", "b", "group_ptr")}
    document: Document = {
        "kind": "circuit",
        "n_inputs": circuit.n_inputs,
        "n_gates": circuit.n_gates,
        "n_outputs": circuit.n_outputs,
        "n_groups": circuit.n_groups,
    }
    starts = np.flatnonzero(np.diff(circuit.outputs, prepend=-1))
    if 2 * len(starts) < circuit.n_outputs <= MAX_REPEATED:
        repeats = np.diff(starts, append=circuit.n_outputs).astype(np.int32)
        tensors |= {"outputs": pack_integers(circuit.outputs[starts]), "repeats": pack_integers(repeats)}
        document["n_runs"] = len(starts)
    else:
        tensors["outputs"] = pack_integers(circuit.outputs)
    return tensors | {"gate": pack_nibbles(circuit.gate)}, document


def restore_circuit(tensors: Tensors, document: Document) -> Circuit:
    """Inverse of `store_circuit`; raises ValueError unless both are complete and consistent.

    Examples
    --------
    >>> xor = Circuit(2, gate=[6], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> restore_circuit(*store_circuit(xor)) == xor
    True
    """
    has_runs = "n_runs" in document
    check_names("tensors", tensors, {"gate", "a", "b", "outputs", "group_ptr"} | ({"repeats"} if has_runs else set()))
    names = {"kind", "n_inputs", "n_gates", "n_outputs", "n_groups"}
    check_names("document", document, names | ({"n_runs"} if has_runs else set()))
    n_inputs = as_integer("n_inputs", document["n_inputs"], 0, MAX_INPUTS)
    n_gates, n_outputs, n_groups = (
        as_integer(name, document[name], 0, MAX_COUNT) for name in ("n_gates", "n_outputs", "n_groups")
    )
    return Circuit(
        n_inputs,
        gate=unpack_nibbles(tensors["gate"], n_gates),
        a=unpack_integers(tensors["a"], n_gates),
        b=unpack_integers(tensors["b"], n_gates),
        outputs=_repeat(tensors, document, n_outputs) if has_runs else unpack_integers(tensors["outputs"], n_outputs),
        group_ptr=unpack_integers(tensors["group_ptr"], n_groups + 1),
    )


def _repeat(tensors: Tensors, document: Document, n_outputs: int) -> NDArray[np.int32]:
    """The outputs, of which a file holds runs of equal ones."""
    n_runs = as_integer("n_runs", document["n_runs"], 0, MAX_REPEATED)
    wires, repeats = (unpack_integers(tensors[name], n_runs) for name in ("outputs", "repeats"))
    if (repeats < 1).any() or repeats.sum(dtype=np.int64) != n_outputs or n_outputs > MAX_REPEATED:
        raise ValueError(f"repeats must be positive and add up to n_outputs, at most {MAX_REPEATED}, got {n_outputs}")
    return np.repeat(wires, repeats)


def check_inputs(n_inputs: int) -> None:
    """Raise ValueError if a circuit has more inputs than a file may say.

    Examples
    --------
    >>> check_inputs(784)
    """
    if n_inputs > MAX_INPUTS:
        raise ValueError(f"n_inputs must be at most {MAX_INPUTS} in a file, got {n_inputs}")
