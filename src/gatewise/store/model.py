"""Models in files: the encoder, the circuit and the head, each stored as its own file of this folder says.

In: a `Model`. Out: uint8 tensors and a JSON document, and from them an equal model.
Invariant: restoring takes memory and time in proportion to what is stored, and anything inconsistent is a ValueError.
"""

from collections.abc import Callable

from gatewise.model import Model
from gatewise.store.circuit import restore_circuit, store_circuit
from gatewise.store.container import Document, FileError, Stored, Tensors, check_names, write_container
from gatewise.store.convolution import MAX_UNROLLED, restore_convolutional, store_convolutional
from gatewise.store.encoder import restore_encoder, store_encoder
from gatewise.store.head import restore_head, store_head
from gatewise.store.seeded import restore_seeded, store_seeded
from gatewise.wiring import CompactCircuit, ConvolutionalCircuit, SeededCircuit

MAX_LAYERS = 2**10  # of a seeded circuit: a layer takes some 50 us to expand, however few bytes stand for it


def store_model(model: Model) -> Stored:
    """What a file holds of a model; of its origin, if it has one and the file is smaller that way.

    The names of tensors start with the part that they belong to: ``encoder.`` or ``circuit.``.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> from gatewise.heads import Affine
    >>> circuit = Circuit(1, [], [], [], outputs=[2], group_ptr=[0, 1])
    >>> model = Model(Encoder.fit([[1.0], [2.0]]), circuit, Affine((1.0,), (0.0,), group_size=1))
    >>> tensors, document = store_model(model)
    >>> list(document), sorted(tensors)[-2:]
    (['kind', 'encoder', 'circuit', 'head'], ['encoder.sizes', 'encoder.threshold_idx'])
    """
    stored = _join(store_encoder(model.encoder), store_circuit(model.circuit), store_head(model.head))
    if model.origin is None or _find_excess(model.origin[1]):
        return stored
    encoder, origin = model.origin
    compact = store_seeded(origin) if isinstance(origin, SeededCircuit) else store_convolutional(origin)
    smaller = _join(store_encoder(encoder), compact, store_head(model.head))
    return smaller if len(write_container(*smaller)) < len(write_container(*stored)) else stored


def restore_model(tensors: Tensors, document: Document) -> Model:
    """Inverse of `store_model`; raises ValueError unless both are complete and consistent."""
    if document.get("kind") != "model":
        raise FileError(f"kind must be model, got {document.get('kind')!r:.60}; gatewise.load reads circuits, too")
    check_names("document", document, {"kind", "encoder", "circuit", "head"})
    for part in ("encoder", "circuit"):
        if not isinstance(document[part], dict):
            raise ValueError(f"{part} must be a JSON object, got {document[part]!r:.60}")
    parts: dict[str, Tensors] = {"encoder": {}, "circuit": {}}
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        if part not in parts:
            raise ValueError(f"names of tensors must start with encoder. or circuit., got {name!r:.60}")
        parts[part][rest] = tensor
    encoder = restore_encoder(parts["encoder"], document["encoder"])
    head = restore_head(document["head"])
    kind = document["circuit"].get("kind")
    if kind == "circuit":
        return Model(encoder, restore_circuit(parts["circuit"], document["circuit"]), head)
    restorers: dict[str, Callable[[Tensors, Document], CompactCircuit]]
    restorers = {"seeded": restore_seeded, "convolutional": restore_convolutional}
    if not isinstance(kind, str) or kind not in restorers:
        kinds = f"circuit, {' or '.join(restorers)}"
        raise FileError(f"kind of a model's circuit must be {kinds}, got {kind!r:.60}; upgrade gatewise")
    compact = restorers[kind](parts["circuit"], document["circuit"])
    if excess := _find_excess(compact):
        raise ValueError(excess)
    return Model.build(encoder, compact, head)


def _find_excess(circuit: CompactCircuit) -> str | None:
    """What a circuit has too much of for a reader to expand it unasked, as an error says it; None if nothing."""
    last = circuit.dense if isinstance(circuit, ConvolutionalCircuit) else circuit
    if isinstance(last, SeededCircuit) and len(last.gates) > MAX_LAYERS:
        return f"layers of a model's circuit must number at most {MAX_LAYERS}, got {len(last.gates)}"
    if isinstance(circuit, ConvolutionalCircuit) and circuit.n_gates > MAX_UNROLLED:
        return f"gates of a model's circuit must number at most {MAX_UNROLLED} at all positions, got {circuit.n_gates}"
    return None


def _join(encoder: Stored, circuit: Stored, head: Document) -> Stored:
    parts = {"encoder": encoder, "circuit": circuit}
    tensors = {f"{part}.{name}": tensor for part, (found, _) in parts.items() for name, tensor in found.items()}
    return tensors, {"kind": "model", "encoder": encoder[1], "circuit": circuit[1], "head": head}
