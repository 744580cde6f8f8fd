"""The `.gw` file: circuits stored small, checksummed, safe to load from strangers.

In: a `Circuit` or a `SeededCircuit`. Out: bytes, and from bytes an equal object, or a `FileError`.
Invariant: equal circuits give equal bytes; a file of n bytes, however hostile, takes O(n) memory to load.

What you pass is what is stored. The default is to save the optimized `Circuit`: it is stored with its wiring,
about 3.5 bytes a gate, and starts fastest, because nothing is left to compute at load. A `SeededCircuit` is the
smallest file, 4 bits a gate; expanding and optimizing it again takes milliseconds at each load.
"""

import re
from collections.abc import Callable

import numpy as np

from gatewise.circuit import Circuit
from gatewise.container import (
    Document,
    FileError,
    Tensors,
    check_names,
    open_container,
    write_container,
)
from gatewise.packing import pack_integers, pack_nibbles, unpack_integers, unpack_nibbles
from gatewise.seeded import SeededCircuit
from gatewise.wiring import as_integer

MAX_INPUTS = 2**24  # no file can make a runner allocate more than 128 MB for one 64-row word of each input
MAX_COUNT = 2**31 - 1


def to_bytes(circuit: Circuit | SeededCircuit) -> bytes:
    """The content of the file that `gatewise.save` writes.

    Examples
    --------
    >>> xor = SeededCircuit(2, gates=[[6]], n_groups=1, seed=0)
    >>> from_bytes(to_bytes(xor)) == xor
    True
    """
    return write_container(*encode_circuit(circuit))


def from_bytes(data: bytes) -> Circuit | SeededCircuit:
    """Inverse of `to_bytes`; raises FileError for anything that is not a valid circuit.

    Examples
    --------
    >>> try:
    ...     from_bytes(b"GIF89a")
    ... except FileError as error:
    ...     print(str(error)[:37])
    data is not a loadable gatewise file:
    """
    return open_container(data, "data", decode_circuit)


def encode_circuit(circuit: Circuit | SeededCircuit) -> tuple[Tensors, Document]:
    """Tensors and JSON document that stand for a circuit, to be put into a container.

    Parameters
    ----------
    circuit : Circuit or SeededCircuit

    Returns
    -------
    tensors : dict of uint8 arrays
    document : dict that JSON can express

    Examples
    --------
    >>> tensors, document = encode_circuit(SeededCircuit(2, gates=[[6, 1, 7]], n_groups=3, seed=0))
    >>> tensors["gate"].tolist(), document["layers"]
    ([22, 7], [3])
    """
    if circuit.n_inputs > MAX_INPUTS:
        raise ValueError(f"n_inputs must be at most {MAX_INPUTS} in a file, got {circuit.n_inputs}")
    if isinstance(circuit, SeededCircuit):
        return {"gate": pack_nibbles(np.concatenate(circuit.gates))}, {
            "kind": "seeded",
            "n_inputs": circuit.n_inputs,
            "layers": [len(layer) for layer in circuit.gates],
            "n_groups": circuit.n_groups,
            "wiring": circuit.wiring,
            "seed": f"{circuit.seed:016x}",  # text, since many JSON readers keep only 53 bits of a number
        }
    tensors = {name: pack_integers(getattr(circuit, name)) for name in ("a", "b", "outputs", "group_ptr")}
    return tensors | {"gate": pack_nibbles(circuit.gate)}, {
        "kind": "circuit",
        "n_inputs": circuit.n_inputs,
        "n_gates": circuit.n_gates,
        "n_outputs": circuit.n_outputs,
        "n_groups": circuit.n_groups,
    }


def decode_circuit(tensors: Tensors, document: Document) -> Circuit | SeededCircuit:
    """Inverse of `encode_circuit`; raises ValueError unless both are complete and consistent.

    Parameters
    ----------
    tensors : dict of uint8 arrays
    document : dict

    Returns
    -------
    Circuit or SeededCircuit
    """
    kinds: dict[str, Callable[[Tensors, Document], Circuit | SeededCircuit]]
    kinds = {"circuit": _decode_explicit, "seeded": _decode_seeded}
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise FileError(f"kind must be one of {', '.join(kinds)}, got {kind!r:.60}; upgrade gatewise to load it")
    return kinds[kind](tensors, document)


def _decode_explicit(tensors: Tensors, document: Document) -> Circuit:
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


def _decode_seeded(tensors: Tensors, document: Document) -> SeededCircuit:
    check_names("tensors", tensors, {"gate"})
    check_names("document", document, {"kind", "n_inputs", "layers", "n_groups", "wiring", "seed"})
    layers, seed = document["layers"], document["seed"]
    if not isinstance(layers, list):
        raise ValueError(f"layers must be a list of integers, got {layers!r:.60}")
    widths = [as_integer(f"layers[{i}]", width, 1, MAX_COUNT) for i, width in enumerate(layers)]
    if not isinstance(seed, str) or not re.fullmatch("[0-9a-f]{16}", seed):
        raise ValueError(f"seed must be 16 hexadecimal digits, got {seed!r:.60}")
    gate = unpack_nibbles(tensors["gate"], sum(widths))
    return SeededCircuit(
        as_integer("n_inputs", document["n_inputs"], 1, MAX_INPUTS),
        gates=np.split(gate, np.cumsum(widths)[:-1]) if widths else [],
        n_groups=document["n_groups"],
        seed=int(seed, 16),
        wiring=document["wiring"],
    )
