"""Seeded circuits in files: half a byte per gate, and one seed that stands for all wires.

In: a `SeededCircuit`. Out: uint8 tensors and a JSON document, equal for equal circuits, and back again.
Invariant: restoring takes memory in proportion to what is stored, and anything inconsistent is a ValueError.
"""

import re
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from gatewise.checks import as_integer
from gatewise.store.circuit import MAX_COUNT, MAX_INPUTS, check_inputs
from gatewise.store.container import Document, FileError, Stored, Tensors, check_names
from gatewise.store.packing import pack_nibbles, unpack_nibbles
from gatewise.wiring import ButterflyWiring, ImageWiring, NearbyWiring, SeededCircuit

IMAGE_WIRINGS: dict[str, type[ImageWiring]] = {"nearby": NearbyWiring, "butterfly": ButterflyWiring}


def store_seeded(circuit: SeededCircuit) -> Stored:
    """What a file holds of a seeded circuit.

    Examples
    --------
    >>> tensors, document = store_seeded(SeededCircuit(2, gates=[[6, 1, 7]], n_groups=3, seed=0))
    >>> tensors["gate"].tolist(), document["layers"], document["seed"]
    ([22, 7], [3], '0000000000000000')
    """
    check_inputs(circuit.n_inputs)
    return {"gate": pack_nibbles(np.concatenate(circuit.gates))}, {
        "kind": "seeded",
        "n_inputs": circuit.n_inputs,
        "layers": [len(layer) for layer in circuit.gates],
        "n_groups": circuit.n_groups,
        "wiring": _store_wiring(circuit.wiring),
        "seed": f"{circuit.seed:016x}",  # text, since many JSON readers keep only 53 bits of a number
    }


def restore_seeded(tensors: Tensors, document: Document) -> SeededCircuit:
    """Inverse of `store_seeded`; raises ValueError unless both are complete and consistent.

    Examples
    --------
    >>> xor = SeededCircuit(2, gates=[[6]], n_groups=1, seed=0)
    >>> restore_seeded(*store_seeded(xor)) == xor
    True
    """
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
        wiring=_restore_wiring(document["wiring"]),
    )


def _store_wiring(wiring: str | ImageWiring) -> str | Document:
    if isinstance(wiring, str):
        return wiring
    (kind,) = (kind for kind, form in IMAGE_WIRINGS.items() if isinstance(wiring, form))
    return {"kind": kind, **asdict(wiring)}


def _restore_wiring(stored: Any) -> str | ImageWiring:
    if isinstance(stored, str):
        return stored  # SeededCircuit knows which names there are
    if not isinstance(stored, dict) or not isinstance(stored.get("kind"), str):
        raise ValueError(f"wiring must be a name or a JSON object with a kind, got {stored!r:.60}")
    form = IMAGE_WIRINGS.get(stored["kind"])
    if form is None:
        kinds = " or ".join(IMAGE_WIRINGS)
        raise FileError(f"kind of the wiring must be {kinds}, got {stored['kind']!r:.60}; upgrade gatewise to load it")
    names = {field.name for field in fields(form)}
    check_names("wiring", stored, {"kind", *names})
    return form(**{name: stored[name] for name in names})
