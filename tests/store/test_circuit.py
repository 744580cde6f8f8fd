"""The .gw file: round trips, pinned bytes, sizes, whole-or-nothing writing, and clear refusals."""

import hashlib
import json
import os
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from support.sealing import seal, unseal

import gatewise.store.files
from gatewise import load, save
from gatewise.circuit import Circuit
from gatewise.store import FileError, from_bytes, to_bytes
from gatewise.wiring import WIRINGS, NearbyWiring, SeededCircuit

HALF_ADDER = Circuit(2, gate=[6, 1], a=[2, 2], b=[3, 3], outputs=[4, 5], group_ptr=[0, 1, 2])
SEEDED = SeededCircuit(4, gates=[[6, 6, 1], [7, 14]], n_groups=2, seed=2**64 - 1)
GEOMETRY = {"kind": "nearby", "shape": [1, 4, 4], "n_thresholds": 2, "reach": [2, 3], "margin": 1}
NEARBY = SeededCircuit(
    32, gates=[[6, 1, 7]] * 3, n_groups=3, seed=5, wiring=NearbyWiring((1, 4, 4), 2, reach=(2, 3), margin=1)
)
SPECIAL = [
    Circuit(0, [], [], [], [], [0]),
    Circuit(3, [], [], [], [], [0]),
    Circuit(3, [], [], [], [], [0, 0, 0]),
    Circuit(0, [], [], [], [0, 1, 1], [0, 3]),
    Circuit(2, [], [], [], [3, 2, 0], [0, 1, 1, 3]),
    Circuit(0, [0], [0], [1], [2], [0, 1]),
    Circuit(2**24, [7], [2**24 + 1], [2], [2**24 + 2], [0, 1]),
    Circuit(1, [15] * 5, [0, 1, 2, 3, 4], [2, 2, 2, 2, 2], [7] * 1000, [0, 500, 1000]),
]

GOLDEN_SEEDED = (
    "40010000000000007b225f5f6d657461646174615f5f223a7b22666f726d6174223a226761746577697365222c227665"
    "7273696f6e223a2231222c22646f63756d656e74223a227b5c226b696e645c223a5c227365656465645c222c5c226e5f"
    "696e707574735c223a342c5c226c61796572735c223a5b332c325d2c5c226e5f67726f7570735c223a322c5c22776972"
    "696e675c223a5c2272616e646f6d5c222c5c22736565645c223a5c22666666666666666666666666666666665c227d22"
    "2c22736861323536223a2233613135336136353661393134636561626537363234343435356636326130623734306165"
    "343832363737363237386262333933613337316662633436363862227d2c2267617465223a7b226474797065223a2255"
    "38222c227368617065223a5b335d2c22646174615f6f666673657473223a5b302c335d7d7d20202066710e"
)


def random_circuit(seed, n_inputs, n_gates, n_outputs, n_groups):
    rng = np.random.default_rng(seed)
    own = 2 + n_inputs + np.arange(n_gates)
    ends = np.sort(rng.integers(0, n_outputs + 1, max(n_groups - 1, 0)))
    return Circuit(
        n_inputs,
        gate=rng.integers(0, 16, n_gates),
        a=rng.integers(0, own),
        b=rng.integers(0, own),
        outputs=rng.integers(0, 2 + n_inputs + n_gates, n_outputs if n_groups else 0),
        group_ptr=[0, *ends.tolist(), n_outputs] if n_groups else [0],
    )


def sorted_circuit(n_layers, width):
    """Layers that read the one before, ordered by (a, b) with a < b, as an optimizer leaves them."""
    rng, parts = np.random.default_rng(0), []
    for _ in range(n_layers):
        pins = np.sort(rng.integers(0, width, (width, 2)), axis=1)
        a, b = pins[np.lexsort(pins.T[::-1])].T
        parts.append((a, b, rng.integers(0, 16, width)))
    return Circuit.from_layers(width, parts, 10)


def change_document(circuit, **change):
    tensors, document = unseal(to_bytes(circuit))
    return seal(tensors, json.dumps(json.loads(document) | change))


@given(st.integers(0, 2**32), st.integers(0, 50), st.integers(0, 300), st.integers(0, 300), st.integers(0, 20))
def test_circuits_round_trip(seed, n_inputs, n_gates, n_outputs, n_groups):
    circuit = random_circuit(seed, n_inputs, n_gates, n_outputs, n_groups)
    data = to_bytes(circuit)
    restored = from_bytes(data)
    assert isinstance(restored, Circuit)
    assert restored == circuit
    assert to_bytes(restored) == data


@given(st.integers(1, 2**24), st.lists(st.integers(1, 30), min_size=1, max_size=9), st.integers(0, 2**64 - 1))
def test_seeded_circuits_round_trip(n_inputs, widths, seed):
    rng = np.random.default_rng(seed)
    gates = [rng.integers(0, 16, width) for width in widths]
    circuit = SeededCircuit(n_inputs, gates=gates, n_groups=widths[-1], seed=seed)
    data = to_bytes(circuit)
    restored = from_bytes(data)
    assert restored == circuit
    assert to_bytes(restored) == data


@pytest.mark.parametrize("wiring", WIRINGS)
def test_seeded_circuits_keep_their_wiring(wiring):
    circuit = SeededCircuit(300, gates=[[6] * 5000, [1, 7]], n_groups=2, seed=3, wiring=wiring)
    restored = from_bytes(to_bytes(circuit))
    assert restored == circuit
    assert restored.wiring == wiring
    assert restored.expand() == circuit.expand()


def test_nearby_wiring_is_stored_with_its_geometry():
    restored = from_bytes(to_bytes(NEARBY))
    assert restored == NEARBY
    assert restored.expand() == NEARBY.expand()
    assert json.loads(unseal(to_bytes(NEARBY))[1])["wiring"] == GEOMETRY


@pytest.mark.parametrize("circuit", SPECIAL, ids=repr)
def test_special_circuits_round_trip(circuit):
    assert from_bytes(to_bytes(circuit)) == circuit


@pytest.mark.parametrize("circuit", [HALF_ADDER, SEEDED], ids=repr)
def test_files_round_trip(circuit, tmp_path):
    save(tmp_path / "x.gw", circuit)
    save(str(tmp_path / "y.gw"), circuit)
    assert load(tmp_path / "x.gw") == load(str(tmp_path / "y.gw")) == circuit
    assert (tmp_path / "x.gw").read_bytes() == to_bytes(circuit)


@pytest.mark.parametrize("circuit", [HALF_ADDER, SEEDED, *SPECIAL], ids=repr)
def test_container_is_as_documented(circuit):
    assert seal(*unseal(to_bytes(circuit))) == to_bytes(circuit)


def test_any_safetensors_reader_opens_it(tmp_path):
    save(tmp_path / "x.gw", SEEDED)
    with safe_open(tmp_path / "x.gw", framework="np") as file:
        assert file.metadata()["format"] == "gatewise"
        assert json.loads(file.metadata()["document"])["layers"] == [3, 2]
        assert file.get_tensor("gate").tolist() == [0x66, 0x71, 0x0E]


@pytest.mark.parametrize(
    ("circuit", "sha256"),
    [
        (HALF_ADDER, "3fe28c0224041a2485b2f004fe5f6f8f84df36c9883d1660d9e6175d1659b0e5"),
        (SEEDED, "bbac326fbc07019ee96ac341bddf1e9af70431f780bf93289eb5d3a54c1563a6"),
        (sorted_circuit(3, 1000), "29ebf1fd6017f5102b9ff0577466393dba3c95e1ff37cea47731080d2145cbe5"),
    ],
    ids=repr,
)
def test_golden_bytes(circuit, sha256):
    assert hashlib.sha256(to_bytes(circuit)).hexdigest() == sha256


def test_golden_file_loads():
    assert from_bytes(bytes.fromhex(GOLDEN_SEEDED)) == SEEDED


def test_sizes():
    rng = np.random.default_rng(0)
    seeded = SeededCircuit(784, gates=[rng.integers(0, 16, 8000) for _ in range(6)], n_groups=10, seed=1)
    assert len(to_bytes(seeded)) <= 25_000
    assert len(to_bytes(seeded.expand())) / 48_000 < 3.8
    assert len(to_bytes(sorted_circuit(6, 8000))) / 48_000 < 2.7
    assert len(to_bytes(HALF_ADDER)) < 800


def test_every_truncation_is_refused():
    for circuit in (HALF_ADDER, SEEDED):
        data = to_bytes(circuit)
        for length in range(len(data)):
            with pytest.raises(FileError):
                from_bytes(data[:length])


def test_every_flipped_bit_is_refused_or_harmless():
    data = to_bytes(SEEDED)
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            assert from_bytes(bytes(damaged)) == SEEDED
        except FileError:
            continue


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "data is not a loadable gatewise file: it has no safetensors container"),
        (b"GIF89a" * 100, "no safetensors container"),
        (b"\x80\x04\x95pickle" * 9, "no safetensors container"),
        (to_bytes(HALF_ADDER) + b"\0", "no safetensors container"),
        (to_bytes(HALF_ADDER).replace(b'"gatewise"', b'"gatewide"'), "another program; pick a file"),
        (to_bytes(HALF_ADDER).replace(b'"version":"1"', b'"version":"2"'), "got '2'; upgrade gatewise"),
        (to_bytes(HALF_ADDER).replace(b'"sha256"', b'"sha255"'), "metadata must have sha256"),
        (to_bytes(HALF_ADDER).replace(b'"U8"', b'"I8"'), "'a' must be uint8 of one dimension, got int8 of 1"),
        (to_bytes(HALF_ADDER).replace(b'"U8"', b'"F4"'), "no safetensors container"),
        (
            to_bytes(HALF_ADDER)[:-1] + b"\xff",
            "sha256 must match the content, got another one; copy it again",
        ),
        (seal({}, "{}"), "kind must be one of model, circuit, seeded, convolutional, got None; upgrade"),
        (seal({}, '{"kind": []}'), r"kind must be one of model, circuit, seeded, convolutional, got \[\]; upgrade"),
        (seal({}, '{"kind": "circuit"}'), "tensors must have a, b, gate, group_ptr, outputs"),
        (change_document(HALF_ADDER, color=1), "document must have no 'color'; upgrade gatewise"),
        (change_document(HALF_ADDER, n_inputs=1), r"b\[0\] must be a wire below the gate's own, got 3; copy"),
        (change_document(HALF_ADDER, n_inputs=2**24 + 1), "n_inputs must be an integer in 0..16777216"),
        (change_document(HALF_ADDER, n_inputs=2.0), r"n_inputs must be an integer .* got 2.0"),
        (change_document(HALF_ADDER, n_inputs=True), "n_inputs must be an integer"),
        (change_document(HALF_ADDER, n_gates=3), "3 gates must take 2 bytes"),
        (change_document(HALF_ADDER, n_gates=10**300), "n_gates must be an integer"),
        (change_document(HALF_ADDER, n_outputs=2**31 - 1), "heads of 16777216 frames"),
        (change_document(HALF_ADDER, n_groups=-1), "n_groups must be an integer"),
        (change_document(SEEDED, seed=5), "seed must be 16 hexadecimal digits, got 5"),
        (change_document(SEEDED, seed="F" * 16), "seed must be 16 hexadecimal digits"),
        (change_document(SEEDED, layers=5), "layers must be a list of integers, got 5"),
        (change_document(SEEDED, layers=[5, 0]), r"layers\[1\] must be an integer in 1.."),
        (change_document(SEEDED, layers=[2**31 - 1] * 9), "must take"),
        (change_document(SEEDED, layers=[]), "must take"),
        (change_document(SEEDED, n_groups=3), "n_groups must be"),
        (
            change_document(SEEDED, wiring="blocks"),
            "wiring must be one of random, unique, local, a wiring of images or a learned one",
        ),
        (change_document(SEEDED, wiring=["random"]), "wiring must be a name or a JSON object, got"),
        (change_document(SEEDED, wiring={}), "wiring must be a JSON object with a kind, got {}"),
        (
            change_document(SEEDED, wiring={"kind": "nearby"}),
            "wiring must have margin, n_thresholds, reach, shape",
        ),
        (change_document(SEEDED, wiring={"kind": "butterfly"}), "wiring must have n_thresholds, shape"),
        (
            change_document(NEARBY, wiring=GEOMETRY | {"kind": "far"}),
            "kind of the wiring must be nearby or butterfly or learned, got 'far'; ",
        ),
        *(
            (
                change_document(NEARBY, wiring=GEOMETRY | {"reach": reach}),
                r"reach must be a tuple of 1\.\.16 integers, got ",
            )
            for reach in (4, [], [1] * 17)
        ),
        (change_document(NEARBY, wiring=GEOMETRY | {"margin": 2}), r"margin must be an integer in 0\.\.1, got 2"),
        (change_document(NEARBY, wiring=GEOMETRY | {"shape": [4, 4]}), r"shape must be \(channels, rows, columns\)"),
        (change_document(NEARBY, wiring=GEOMETRY | {"shape": [2**20] * 3}), "at most 1048576 inputs, got"),
        (change_document(NEARBY, wiring=GEOMETRY | {"n_thresholds": 3}), "n_inputs must be 48 for NearbyWiring"),
        (change_document(NEARBY, n_inputs=33), "n_inputs must be 32 for NearbyWiring"),
    ],
)
def test_refusals_say_why(data, message):
    with pytest.raises(FileError, match=message) as caught:
        from_bytes(data)
    assert str(caught.value).startswith("data is not a ")
    assert "; " in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "document",
    [
        "",
        "null",
        "[]",
        '"circuit"',
        "{",
        "NaN",
        '{"kind": NaN}',
        '{"kind": -Infinity}',
        '{"kind": "circuit", "kind": "circuit"}',
        "[" * 100_000,
        '{"kind":' + "[" * 900 + "]" * 900 + "}",
        '{"a":' * 100_000,
        '{"kind":' + "9" * 10_000 + "}",
        '{"kind": "circuit", "n_inputs": 1e999}',
        '{"kind": "\\ud800"}',
        '{"kind": "Schaltkreis für Zähler"}',
        "\0",
    ],
    ids=lambda text: text[:20],
)
def test_hostile_documents_are_refused(document):
    with pytest.raises(FileError):
        from_bytes(seal(unseal(to_bytes(HALF_ADDER))[0], document))


def test_hostile_counts_allocate_nothing():
    cases = [
        change_document(HALF_ADDER, n_gates=2**31 - 1),
        change_document(HALF_ADDER, n_outputs=2**31 - 1),
        change_document(HALF_ADDER, n_groups=2**31 - 2),
        change_document(SEEDED, layers=[2**30]),
    ]
    tracemalloc.start()
    for data in cases:
        with pytest.raises(FileError):
            from_bytes(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize(
    "circuit",
    [
        Circuit(1, [], [], [], np.full(10**6, 2), [0, 10**6]),
        Circuit(1, [], [], [], [], np.zeros(10**6, int)),
        Circuit(1, np.zeros(10**6, int), np.arange(2, 10**6 + 2), np.zeros(10**6, int), [], [0]),
    ],
    ids=repr,
)
def test_dense_files_expand_by_a_bounded_factor(circuit):
    data = to_bytes(circuit)
    tracemalloc.start()
    from_bytes(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * len(data) + 2**24


@settings(max_examples=20)
@given(st.binary(max_size=200))
def test_bytes_of_anything_are_refused(data):
    with pytest.raises(FileError):
        from_bytes(data)


def test_load_names_the_file(tmp_path):
    path = tmp_path / "broken.gw"
    path.write_bytes(to_bytes(HALF_ADDER)[:-1])
    with pytest.raises(FileError, match=r"broken\.gw is not a loadable gatewise file: "):
        load(path)


def test_missing_files_stay_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.gw")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def test_too_many_inputs_are_refused_when_saving(tmp_path):
    with pytest.raises(ValueError, match="n_inputs must be at most 16777216 in a file, got 16777217"):
        save(tmp_path / "x.gw", Circuit(2**24 + 1, [], [], [], [], [0]))
    assert os.listdir(tmp_path) == []


def test_other_contents_are_refused(tmp_path):
    with pytest.raises(TypeError, match="content must be a Model or a circuit, got str; estimators"):
        save(tmp_path / "x.gw", "circuit")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failed_save_keeps_the_old_file(step, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    save(tmp_path / "x.gw", HALF_ADDER)
    monkeypatch.setattr(gatewise.store.files.os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        save(tmp_path / "x.gw", SEEDED)
    assert os.listdir(tmp_path) == ["x.gw"]
    assert load(tmp_path / "x.gw") == HALF_ADDER


def test_interrupted_save_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(gatewise.store.files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path / "x.gw", SEEDED)
    assert os.listdir(tmp_path) == []


def test_unwritable_places_are_os_errors(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "missing" / "x.gw", tmp_path / "file" / "x.gw", tmp_path):
        with pytest.raises(OSError, match=r"No such|Not a|Is a"):
            save(path, SEEDED)
    assert os.listdir(tmp_path) == ["file"]

    def deny(*_):
        raise PermissionError("denied")

    monkeypatch.setattr(gatewise.store.files, "open", deny, raising=False)
    with pytest.raises(PermissionError):
        save(tmp_path / "x.gw", SEEDED)
    assert os.listdir(tmp_path) == ["file"]


def test_save_follows_links_and_the_umask(tmp_path):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "x.gw"
    (tmp_path / "link.gw").symlink_to(target)
    save(tmp_path / "link.gw", SEEDED)
    assert load(target) == SEEDED
    assert (tmp_path / "link.gw").is_symlink()
    (tmp_path / "plain").write_text("x")
    assert target.stat().st_mode == (tmp_path / "plain").stat().st_mode
