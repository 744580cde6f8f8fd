"""Seeded circuits in files: half a byte per gate, one seed for all wires, and the choices of learned wires.

In: a `SeededCircuit`. Out: uint8 tensors and a JSON document, equal for equal circuits, and back again.
Invariant: restoring takes memory in proportion to what is stored, and anything inconsistent is a ValueError.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer
from gatewise.gates import find_read_operands
from gatewise.store.circuit import MAX_COUNT, MAX_INPUTS, check_inputs
from gatewise.store.container import Document, FileError, Stored, Tensors, check_names
from gatewise.store.packing import Bytes, pack_bits, pack_nibbles, unpack_bits, unpack_nibbles
from gatewise.wiring import (
    AllInputs,
    ButterflyWiring,
    ImageWiring,
    LearnedWiring,
    NearbyCandidates,
    NearbyWiring,
    RandomCandidates,
    SeededCandidates,
    SeededCircuit,
)

LEARNED = "learned"  # the kind of a wiring that has choices
IMAGE_WIRINGS: dict[str, type[ImageWiring]] = {"nearby": NearbyWiring, "butterfly": ButterflyWiring}
CANDIDATES: dict[str, type[SeededCandidates]] = {
    "random": RandomCandidates,
    "nearby": NearbyCandidates,
    "all": AllInputs,
}


def store_seeded(circuit: SeededCircuit) -> Stored:
    """What a file holds of a seeded circuit.

    Examples
    --------
    >>> tensors, document = store_seeded(SeededCircuit(2, gates=[[6, 1, 7]], n_groups=3, seed=0))
    >>> tensors["gate"].tolist(), document["layers"], document["seed"]
    ([22, 7], [3], '0000000000000000')
    """
    check_inputs(circuit.n_inputs)
    tensors, wiring = _store_wiring(circuit)
    return {"gate": pack_nibbles(np.concatenate(circuit.gates)), **tensors}, {
        "kind": "seeded",
        "n_inputs": circuit.n_inputs,
        "layers": [len(layer) for layer in circuit.gates],
        "n_groups": circuit.n_groups,
        "wiring": wiring,
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
    check_names("document", document, {"kind", "n_inputs", "layers", "n_groups", "wiring", "seed"})
    layers, seed, wiring = document["layers"], document["seed"], document["wiring"]
    is_learned = isinstance(wiring, dict) and wiring.get("kind") == LEARNED
    check_names("tensors", tensors, {"gate", "choice"} if is_learned else {"gate"})
    if not isinstance(layers, list):
        raise ValueError(f"layers must be a list of integers, got {layers!r:.60}")
    widths = [as_integer(f"layers[{i}]", width, 1, MAX_COUNT) for i, width in enumerate(layers)]
    if not isinstance(seed, str) or not re.fullmatch("[0-9a-f]{16}", seed):
        raise ValueError(f"seed must be 16 hexadecimal digits, got {seed!r:.60}")
    gate = unpack_nibbles(tensors["gate"], sum(widths))
    gates = np.split(gate, np.cumsum(widths)[:-1]) if widths else []
    n_inputs = as_integer("n_inputs", document["n_inputs"], 1, MAX_INPUTS)
    return SeededCircuit(
        n_inputs,
        gates=gates,
        n_groups=document["n_groups"],
        seed=int(seed, 16),
        wiring=_restore_learned(tensors["choice"], wiring, n_inputs, gates) if is_learned else _restore_fixed(wiring),
    )


def _store_wiring(circuit: SeededCircuit) -> tuple[Tensors, str | Document]:
    wiring = circuit.wiring
    if isinstance(wiring, str):
        return {}, wiring
    if not isinstance(wiring, LearnedWiring):
        return {}, _store_form(wiring, IMAGE_WIRINGS)
    read = [find_read_operands(gate) for gate in circuit.gates]
    # What is not read need not be stored if it is 0, as `SeededCircuit.clear_unread` leaves it.
    is_clear = not any(choices[~pins].any() for choices, pins in zip(wiring.choices, read, strict=True))
    stored = [choices[pins | (not is_clear)] for choices, pins in zip(wiring.choices, read, strict=True)]
    choice = pack_bits(stored, _count_bits(wiring.candidates, circuit.n_inputs, circuit.gates))
    candidates = _store_form(wiring.candidates, CANDIDATES)
    return {"choice": choice}, {"kind": LEARNED, "candidates": candidates, "pins": "read" if is_clear else "all"}


def _restore_learned(choice: Bytes, stored: Document, n_inputs: int, gates: list[NDArray[np.uint8]]) -> LearnedWiring:
    check_names("wiring", stored, {"kind", "candidates", "pins"})
    if stored["pins"] not in ("all", "read"):
        raise ValueError(f"pins must be all or read, got {stored['pins']!r:.60}")
    candidates: SeededCandidates = _restore_form("candidates", stored["candidates"], CANDIDATES)
    n_bits = _count_bits(candidates, n_inputs, gates)
    read = [find_read_operands(gate) | (stored["pins"] == "all") for gate in gates]
    choices = []
    for pins, values in zip(read, unpack_bits(choice, [int(pins.sum()) for pins in read], n_bits), strict=True):
        choices.append(np.zeros(pins.shape, np.int32))
        choices[-1][pins] = values
    return LearnedWiring(candidates, choices)


def _count_bits(candidates: SeededCandidates, n_inputs: int, gates: Sequence[NDArray[np.uint8]]) -> list[int]:
    """Bits of a choice in each layer."""
    n_wires = [n_inputs, *(len(gate) for gate in gates[:-1])]
    return [(candidates.count(layer, n) - 1).bit_length() for layer, n in enumerate(n_wires[: len(gates)])]


def _restore_fixed(stored: Any) -> str | ImageWiring:
    if not isinstance(stored, str | dict):
        raise ValueError(f"wiring must be a name or a JSON object, got {stored!r:.60}")
    if isinstance(stored, str):
        return stored  # SeededCircuit knows which names there are
    known = {**IMAGE_WIRINGS, LEARNED: LearnedWiring}  # the last one is not restored here, but named in the error
    wiring: ImageWiring = _restore_form("wiring", stored, known)
    return wiring


def _store_form(value: Any, forms: Mapping[str, type]) -> Document:
    """A dataclass of numbers, with the name of its kind."""
    (kind,) = (kind for kind, form in forms.items() if isinstance(value, form))
    return {"kind": kind, **asdict(value)}


def _restore_form(what: str, stored: Any, forms: Mapping[str, type]) -> Any:
    if not isinstance(stored, dict) or not isinstance(stored.get("kind"), str):
        raise ValueError(f"{what} must be a JSON object with a kind, got {stored!r:.60}")
    form = forms.get(stored["kind"])
    if form is None:
        kinds = " or ".join(forms)
        raise FileError(f"kind of the {what} must be {kinds}, got {stored['kind']!r:.60}; upgrade gatewise to load it")
    names = {field.name for field in fields(form)}
    check_names(what, stored, {"kind", *names})
    return form(**{name: stored[name] for name in names})
