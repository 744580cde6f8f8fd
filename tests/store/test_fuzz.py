"""Fuzzing of the .gw reader: whatever the bytes, a valid circuit or model or a FileError, in bounded memory."""

import dataclasses
import json
import random
import tracemalloc

import numpy as np
import pytest
from support.corpus import random_convolution
from support.sealing import seal, unseal

from gatewise.circuit import Circuit
from gatewise.encode import Categorical, Encoder, Numeric, Timed
from gatewise.heads import Affine, Classes, Logit
from gatewise.model import Model
from gatewise.store import FileError, from_bytes, to_bytes
from gatewise.wiring import (
    AllInputs,
    ConvolutionalCircuit,
    LearnedWiring,
    NearbyCandidates,
    NearbyWiring,
    RandomCandidates,
    SeededCircuit,
)

N_SEEDS = {"circuits": 12, "learned": 6, "convolutional": 6, "models": 6}
N_CASES = 10_000  # per seed
N_TRIES = {"circuits": 30_000, "learned": 24_000, "convolutional": 24_000, "models": 8000}  # until every check was met
MEMORY_EVERY = 40
MAX_MEMORY = 64 * 2**20
MAX_EXPANDED = 2**20  # gates at all positions; a circuit that is larger is read, but not written out

VALUES = [
    None, True, False, 0, 1, 2, 3, 7, 128, 129, 255, 2**24, 2**31 - 1, 2**31, 2**63, 2**64, 10**400, -1, 0.5,
    1e308, float("nan"), float("inf"), "", "1", "0" * 16, "f" * 16, "random", "circuit", "seeded", "ü",
    "learned", "all", "read", "\ud800", "\0", "U8", "F4", "BF16", "I64", [], [0], [1] * 5, [2**31] * 3, [[]],
    {}, {"a": 1},
]  # fmt: skip


def base_files(kind):
    """Small files, some with several frames in each stream."""
    makers = {"circuits": circuit_files, "learned": learned_files, "convolutional": convolutional_files}
    return (makers | {"models": model_files})[kind]()


def model_files():
    """Named and unnamed columns of every kind, constant models, every head."""
    rng = np.random.default_rng(1)
    columns = [Numeric("age", [17.5, 37.5], True), Categorical("work", ("a", "ü", 3, 2.5, True), True)]
    columns += [Numeric("none", []), Categorical("single", ("yes",))]
    mixed = Encoder(columns, named=True)
    gates = [rng.integers(0, 16, n) for n in (9, 8)]
    circuit = SeededCircuit(mixed.n_bits, gates=gates, n_groups=2, seed=3).expand()
    image = Encoder.images((9, 8), 3)
    many = Circuit(image.n_bits, [6], [2], [3], [image.n_bits + 2] * 3, [0, 1, 2, 3])
    nothing = Circuit(0, [], [], [], [1], [0, 1])
    nearby = NearbyWiring((1, 9, 8), 3, reach=(2,))
    seeded = SeededCircuit(image.n_bits, [rng.integers(0, 16, 200)] * 2, n_groups=2, seed=5, wiring=nearby)
    learned = make_learned(rng, NearbyCandidates((1, 9, 8), 3, radius=2, k=16), (200, 200), n_groups=2)
    dated = Encoder(
        [
            Timed([0.5, 1e6], True, source="when", part="elapsed", anchor=20_454),
            Timed([5.5], source="when", part="weekday"),
            Timed([9.0], source="wait", part="duration"),
        ],
        named=True,
    )
    when = Circuit(5, [6], [2], [5], [7, 6], [0, 1, 2])
    models = [
        Model(dated, when, Classes(("no", 7), 2.5, 1)),
        Model(mixed, circuit, Classes(("no", 7), 2.5, 4)),
        Model(mixed, circuit, Affine((1.0, 2.0), (0.5, -1.0), 4)),
        Model(image, many, Classes((True, 1.5, "x"), 1.0, 1)),
        Model(Encoder([Numeric("x0", [])]), nothing, Logit((1.0,), (0.0,), 1)),
        Model.build(image, seeded, Classes((0, 1), 1.0, 100)),
        Model.build(image, learned, Classes((0, 1), 1.0, 100)),
    ]
    files = [model.to_bytes() for model in models]
    assert [json.loads(unseal(data)[1])["circuit"]["kind"] for data in files[-2:]] == ["seeded"] * 2
    return files


def make_learned(rng, candidates, widths, n_groups):
    """Any gates and any choices that the candidates leave."""
    n_wires = [216, *widths]
    choices = [rng.integers(0, candidates.count(i, n_wires[i]), (2, width)) for i, width in enumerate(widths)]
    gates = [rng.integers(0, 16, width) for width in widths]
    return SeededCircuit(216, gates, n_groups, seed=7, wiring=LearnedWiring(candidates, choices))


def circuit_files():
    """Both kinds of circuits."""
    rng = np.random.default_rng(0)
    seeded = SeededCircuit(6, gates=[rng.integers(0, 16, n) for n in (9, 8)], n_groups=4, seed=3)
    wide = SeededCircuit(20, gates=[rng.integers(0, 16, n) for n in (200, 150)], n_groups=10, seed=4)
    nearby = SeededCircuit(8, [[6] * 9] * 2, n_groups=3, seed=1, wiring=NearbyWiring((1, 2, 2), 2, reach=(1, 2)))
    constants = Circuit(2, gate=[6], a=[2], b=[3], outputs=[0, 1, 4] + [2] * 300, group_ptr=[0, 2, 2, 303])
    circuits = [seeded, nearby, seeded.expand(), wide.expand(), constants, Circuit(0, [], [], [], [], [0])]
    return [to_bytes(circuit) for circuit in circuits]


def learned_files():
    """Circuits of learned wires of every kind, with all choices, and with those that are read."""
    rng = np.random.default_rng(2)
    kinds = [RandomCandidates(5), NearbyCandidates((2, 6, 6), 3, radius=1, k=12), AllInputs()]
    circuits = [make_learned(rng, candidates, (9, 8), n_groups=4) for candidates in kinds]
    return [to_bytes(each) for circuit in circuits for each in (circuit, circuit.clear_unread())]


def convolutional_files():
    """Trees and pools with any gates, before each kind of circuit."""
    circuits = [random_convolution(np.random.default_rng(seed), (1, 7, 6), n_thresholds=2) for seed in range(3)]
    expanded = [dataclasses.replace(circuit, dense=circuit.dense.expand()) for circuit in circuits]
    return [to_bytes(circuit) for circuit in (*circuits, *expanded)]


def mutate_bytes(rng, data):
    """One to four flips, overwrites, insertions, deletions, duplications, splices or truncations."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        end = min(end, at + rng.choice((1, 2, 4, 8, 64)))
        match rng.randrange(7):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1 if at < len(data):
                data[at] = rng.choice((0, 1, 31, 32, 33, 127, 128, 255, rng.randrange(256)))
            case 2:
                data[at:at] = rng.randbytes(rng.choice((1, 2, 4, 8)))
            case 3:
                del data[at:end]
            case 4:
                data[at:at] = data[at:end]
            case 5:
                to = rng.randrange(len(data) + 1)
                data[to : to + end - at] = data[at:end]
            case 6:
                del data[at:]
    return bytes(data)


def mutate_mapping(rng, mapping):
    """Change, remove, add or nudge one entry; half of the time go down into a nested mapping or list."""
    mapping = dict(mapping)
    key = rng.choice([*mapping, "extra"])
    value = mapping.get(key)
    if isinstance(value, dict) and rng.random() < 0.8:
        mapping[key] = mutate_mapping(rng, value)
    elif isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        mapping[key] = value[:at] + rng.choice(([], [rng.choice(VALUES)], value)) + value[at + 1 :]
    elif isinstance(value, int) and rng.random() < 0.6:
        mapping[key] = value + rng.choice((-2, -1, 1, 2, 128, 2**20))
    elif rng.random() < 0.2:
        mapping.pop(key, None)
    else:
        mapping[key] = rng.choice(VALUES)
    return mapping


def mutate_tensors(rng, tensors, others):
    """Mutate the bytes of one or two tensors; sometimes swap, drop, add or borrow one."""
    tensors = dict(tensors)
    names = sorted(tensors)
    for name in rng.sample(names, min(len(names), rng.choice((1, 1, 2)))):
        tensors[name] = mutate_bytes(rng, tensors[name])
    name = rng.choice(names)
    match rng.randrange(12):
        case 0:
            tensors[name] = tensors[rng.choice(names)]
        case 1:
            del tensors[name]
        case 2:
            tensors[rng.choice(("extra", "ü", ""))] = tensors[name]
        case 3:
            tensors[name] = others.get(name, b"")
    return tensors


def make_case(rng, files):
    """A mutated file, and whether its checksum was made to match again."""
    data, other = rng.choice(files), rng.choice(files)
    tensors, document = unseal(data)
    match rng.randrange(8):
        case 0:
            return mutate_bytes(rng, data), False
        case 1:
            head = 8 + int.from_bytes(data[:8], "little")
            return mutate_bytes(rng, data[:head]) + data[head:], False
        case 2:
            header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
            return seal(tensors, document, header_change=mutate_mapping(rng, header)), False
        case 3:
            text = mutate_bytes(rng, document.encode()).decode("utf-8", "surrogateescape")
            return seal(tensors, text), True
        case 4:
            return seal(tensors, json.dumps(mutate_mapping(rng, json.loads(document)))), True
        case 5:
            changed = mutate_mapping(rng, mutate_mapping(rng, json.loads(document)))
            return seal(mutate_tensors(rng, tensors, unseal(other)[0]), json.dumps(changed)), True
        case _:
            return seal(mutate_tensors(rng, tensors, unseal(other)[0]), document), True


def read(data):
    """What a file holds, or None for a FileError; any other exception is the bug that we look for."""
    try:
        content = from_bytes(data)
    except FileError:
        return None
    circuit = content.circuit if isinstance(content, Model) else content
    if isinstance(circuit, ConvolutionalCircuit) and circuit.n_gates > MAX_EXPANDED:
        return content
    (circuit if isinstance(circuit, Circuit) else circuit.expand()).validate()
    return content


def read_measured(data):
    tracemalloc.start()
    try:
        return read(data), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind, n in N_SEEDS.items() for seed in range(n)])
def test_mutated_files(kind, seed):
    rng, files = random.Random(seed), base_files(kind)
    n_sealed = n_loaded = n_sealed_refused = 0
    for case in range(N_CASES):
        data, sealed = make_case(rng, files)
        if case % MEMORY_EVERY == 0:
            content, peak = read_measured(data)
            assert peak < MAX_MEMORY
        else:
            content = read(data)
        n_sealed += sealed
        n_loaded += content is not None
        n_sealed_refused += sealed and content is None
        assert content is None or read(to_bytes(content)) == content
    # The mutations must get past the checksum, and be neither all harmless nor all fatal.
    assert n_sealed > N_CASES // 2
    assert n_loaded > N_CASES // 50
    assert n_sealed_refused > N_CASES // 4


REACHED = {
    "circuits": (
        "container", "another program", "version must", "metadata must", "sha256 must", "kind must",
        "tensors must", "document must", "n_inputs must", "layers must", "seed must", "wiring must be one of",
        "wiring must have", "kind of the wiring must", "shape must", "reach[", "margin must", "n_thresholds must",
        "n_groups must", "gates must take", "order 0 or 1", "widths must", "packed integers must take",
        "a wire below", "outputs[", "group_ptr must", "n_runs must", "repeats must be positive",
    ),
    "learned": (
        "tensors must have", "wiring must have", "pins must be all or read", "candidates must be a JSON object",
        "kind of the candidates must", "candidates must have", "k must be an integer", "k must be at most",
        "shape must", "n_thresholds must", "radius must", "in_features must be", "choices must take",
        "last byte of choices must", "the number of candidates",
    ),
    "convolutional": (
        "document must have", "tensors must have", "shape must be", "shape[", "n_thresholds must be", "stages must be",
        "must be a JSON object with a kind", "must be trees or or", "must have no",
        "kernel_size", "stride", "padding", "gates must take",
        "choices must take", "last byte of choices", "taps must be below", "must be at most the maps",
        "dense must read", "kind of the dense circuit",
    ),
    "models": (
        "kind must", "document must", "encoder must be a JSON object", "circuit must be a JSON object",
        "names of tensors", "kind of a model's circuit must", "n_inputs must be 216",
        "choices must take", "in_features must be 216",
        "tensors of the encoder", "document of the encoder", "n_columns must",
        "n_thresholds must", "flags of a column",
        "names must be", "values must be a list", "values of a column", "sizes must", "distinct must",
        "times must be there", "times must be pairs", "flags of a column must be of one kind",
        "threshold_idx must", "thresholds must increase", "circuit must have",
        "groups of the circuit", "kind of the head", "head must", "labels must", "tau must", "group_size must",
        "scale must", "offset must",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", REACHED)
def test_mutations_reach_every_check(kind):
    """The checks behind the checksum are exercised, told apart by their messages."""
    rng, files, messages = random.Random(0), base_files(kind), set()
    for _ in range(N_TRIES[kind]):
        try:
            from_bytes(make_case(rng, files)[0])
        except FileError as error:
            messages.add(str(error))
    unreached = [part for part in REACHED[kind] if not any(part in message for message in messages)]
    assert unreached == []
