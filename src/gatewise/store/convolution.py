"""Convolutional circuits in files: half a byte per shared gate, and some bits for each tap.

In: a `ConvolutionalCircuit`. Out: uint8 tensors and a JSON document, equal for equal circuits, and back again.
Invariant: restoring takes memory in proportion to what is stored, and anything inconsistent is a ValueError. To expand
what was restored takes more, up to a limit that models keep.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer
from gatewise.circuit import Circuit
from gatewise.store.circuit import MAX_INPUTS, check_inputs, restore_circuit, store_circuit
from gatewise.store.container import Document, FileError, Stored, Tensors, check_names
from gatewise.store.packing import pack_bits, pack_nibbles, unpack_bits, unpack_nibbles
from gatewise.store.seeded import restore_seeded, store_seeded
from gatewise.wiring import ConvolutionalCircuit, OrPooling, SeededCircuit, SharedTrees, Window
from gatewise.wiring.layers import as_image_shape
from gatewise.wiring.taps import MAX_CHANNELS
from gatewise.wiring.window import MAX_DEPTH

MAX_UNROLLED = 2**23
"""Gates at all positions that a file may stand for where a reader expands it: some seconds, and about 2 GB."""

MAX_STAGES = 2**8
DENSE = "dense."  # what the names of the tensors of the dense circuit start with
TREES, POOL = "trees", "or"


def store_convolutional(circuit: ConvolutionalCircuit) -> Stored:
    """What a file holds of a convolutional circuit.

    Examples
    --------
    >>> edges = SharedTrees(Window(2), taps=[[0, 1], [3, 2]], gates=[[6, 6], [7]])
    >>> dense = SeededCircuit(196, gates=[[6, 1] * 100], n_groups=10, seed=0)
    >>> pool = OrPooling(Window(2, stride=2))
    >>> tensors, document = store_convolutional(ConvolutionalCircuit((1, 29, 29), 1, [edges, pool], dense))
    >>> tensors["gate"].tolist(), tensors["tap"].tolist(), document["stages"][1]["kind"]
    ([102, 7], [180], 'or')
    """
    check_inputs(circuit.n_inputs)
    trees = [stage for stage in circuit.stages if isinstance(stage, SharedTrees)]
    gates = [level for stage in trees for level in stage.gates]
    taps = [stage.taps.reshape(-1) for stage in trees]
    dense = circuit.dense
    inner, document = store_seeded(dense) if isinstance(dense, SeededCircuit) else store_circuit(dense)
    tensors = {f"{DENSE}{name}": tensor for name, tensor in inner.items()}
    tensors["gate"] = pack_nibbles(np.concatenate([np.empty(0, np.uint8), *gates]))
    tensors["tap"] = pack_bits([np.empty(0, np.int32), *taps], [0, *_count_bits(circuit)])
    return tensors, {
        "kind": "convolutional",
        "shape": list(circuit.shape),
        "n_thresholds": circuit.n_thresholds,
        "stages": [_store_stage(stage) for stage in circuit.stages],
        "dense": document,
    }


def restore_convolutional(tensors: Tensors, document: Document) -> ConvolutionalCircuit:
    """Inverse of `store_convolutional`; raises ValueError unless both are complete and consistent.

    Examples
    --------
    >>> both = SharedTrees(Window((1, 2)), taps=[[0], [1]], gates=[[1]])
    >>> dense = Circuit(2, [], [], [], outputs=[2, 3], group_ptr=[0, 2])
    >>> circuit = ConvolutionalCircuit((1, 1, 3), 1, [both], dense)
    >>> restore_convolutional(*store_convolutional(circuit)) == circuit
    True
    """
    check_names("document", document, {"kind", "shape", "n_thresholds", "stages", "dense"})
    own = {name: tensor for name, tensor in tensors.items() if not name.startswith(DENSE)}
    check_names("tensors", own, {"gate", "tap"})
    shape = as_image_shape(document["shape"])
    n_thresholds = as_integer("n_thresholds", document["n_thresholds"], 1, MAX_INPUTS)
    if math.prod(shape) * n_thresholds > MAX_INPUTS:
        raise ValueError(f"shape and n_thresholds must make at most {MAX_INPUTS} inputs, got {shape}, {n_thresholds}")
    stages = list(_restore_stages(own, document["stages"], shape[0] * n_thresholds))
    dense = {name.removeprefix(DENSE): tensor for name, tensor in tensors.items() if name.startswith(DENSE)}
    return ConvolutionalCircuit(shape, n_thresholds, stages, _restore_dense(dense, document["dense"]))


def _count_bits(circuit: ConvolutionalCircuit) -> list[int]:
    """Bits of a tap of each stage that has taps."""
    widths, channels = [], circuit.shape[0] * circuit.n_thresholds
    for stage in circuit.stages:
        if isinstance(stage, SharedTrees):
            widths.append((channels * stage.window.n_values - 1).bit_length())
            channels = len(stage.gates[-1])
    return widths


def _store_stage(stage: SharedTrees | OrPooling) -> Document:
    window = {"kernel_size": list(stage.window.kernel_size), "stride": list(stage.window.stride)}
    if isinstance(stage, OrPooling):
        return {"kind": POOL, **window, "padding": list(stage.window.padding)}
    sizes = {"channels": len(stage.gates[-1]), "depth": len(stage.gates)}
    return {"kind": TREES, **window, "padding": list(stage.window.padding), **sizes}


def _restore_stages(tensors: Tensors, stages: Any, channels: int) -> Iterator[SharedTrees | OrPooling]:
    """The stages, once it is known that the tensors hold exactly as many gates and taps as they need."""
    if not isinstance(stages, list) or len(stages) > MAX_STAGES:
        raise ValueError(f"stages must be a list of at most {MAX_STAGES} JSON objects, got {stages!r:.60}")
    windows = [_restore_window(f"stages[{i}]", stage) for i, stage in enumerate(stages)]
    sizes, n_taps, widths = [], [], []
    for i, (stage, window) in enumerate(zip(stages, windows, strict=True)):
        if stage["kind"] == TREES:
            n_values = channels * window.n_values
            channels = as_integer(f"channels of stages[{i}]", stage["channels"], 1, MAX_CHANNELS)
            depth = as_integer(f"depth of stages[{i}]", stage["depth"], 1, MAX_DEPTH)
            sizes.append([channels << level for level in reversed(range(depth))])
            n_taps.append(2 * sizes[-1][0])
            widths.append(max(1, (n_values - 1).bit_length()))
    gates = iter(_split(unpack_nibbles(tensors["gate"], sum(map(sum, sizes))), [n for each in sizes for n in each]))
    taps = iter(unpack_bits(tensors["tap"], n_taps, widths))
    levels = iter(sizes)
    for stage, window in zip(stages, windows, strict=True):
        if stage["kind"] == POOL:
            yield OrPooling(window)
        else:
            yield SharedTrees(window, next(taps).reshape(2, -1), [next(gates) for _ in next(levels)])


def _restore_window(name: str, stage: Any) -> Window:
    if not isinstance(stage, dict) or not isinstance(stage.get("kind"), str):
        raise ValueError(f"{name} must be a JSON object with a kind, got {stage!r:.60}")
    if stage["kind"] not in (TREES, POOL):
        raise FileError(f"kind of {name} must be {TREES} or {POOL}, got {stage['kind']!r:.60}; upgrade gatewise")
    keys = {"kind", "kernel_size", "stride", "padding"}
    check_names(name, stage, keys | ({"channels", "depth"} if stage["kind"] == TREES else set()))
    pairs = [stage[key] for key in ("kernel_size", "stride", "padding")]
    if not all(isinstance(pair, list) for pair in pairs):
        raise ValueError(
            f"kernel_size, stride and padding of {name} must be lists of rows and columns, got {pairs!r:.60}"
        )
    kernel_size, stride, padding = pairs
    return Window(kernel_size, stride, padding)


def _restore_dense(tensors: Tensors, document: Any) -> Circuit | SeededCircuit:
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind == "circuit":
        return restore_circuit(tensors, document)
    if kind == "seeded":
        return restore_seeded(tensors, document)
    raise FileError(
        f"kind of the dense circuit must be circuit or seeded, got {kind!r:.60}; upgrade gatewise to load it"
    )


def _split(values: NDArray[np.uint8], sizes: list[int]) -> list[NDArray[np.uint8]]:
    return np.split(values, np.cumsum(sizes)[:-1]) if sizes else []
