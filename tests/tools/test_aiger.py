"""AIGER and BLIF against the reference, read back by ABC; ABC's proofs; files from strangers."""

import os
import subprocess
import sys
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from support.corpus import adder, circuits, from_rows, random_dag, random_layers
from support.tools import require

from gatewise import Circuit, Encoder, Model, simplify
from gatewise.encode import Categorical, Numeric
from gatewise.export.logic import to_aiger, to_blif, write_aiger, write_blif
from gatewise.export.pins import HeadForm, name_pins
from gatewise.gates import AND, XOR
from gatewise.heads import Classes
from gatewise.run.reference import evaluate_outputs
from gatewise.tools import aiger
from gatewise.tools.abc import ABC, is_proved_equal, restructure, run_abc
from gatewise.tools.aiger import from_aiger
from gatewise.tools.process import ToolError

require(ABC)

CORPUS = circuits()


@pytest.mark.parametrize("name", CORPUS)
def test_optimized_circuits_are_proved_equal(name: str) -> None:
    assert is_proved_equal(CORPUS[name], simplify(CORPUS[name]))


@pytest.mark.parametrize("head", ["counts", "class"])
def test_optimized_circuits_with_their_heads_are_proved_equal(head: HeadForm) -> None:
    circuit = CORPUS["ten groups"]
    raw, small = (name_pins(each, head) for each in (circuit, simplify(circuit)))
    files = {
        "raw.aig": write_aiger(raw),
        "small.aig": write_aiger(small),
        "small.blif": write_blif(small, "b").encode(),
    }
    assert "Networks are equivalent" in run_abc("cec raw.aig small.aig", files)[0]
    assert "Networks are equivalent" in run_abc("cec -n raw.aig small.blif", files)[0]


def test_gates_of_constants_and_equal_operands_take_no_and() -> None:
    circuit = from_rows(2, [(AND, 2, 1), (XOR, 3, 3), (XOR, 4, 1), (AND, 6, 3)], [4, 5, 6, 7])
    assert aiger.to_aiger(circuit, ascii=True).splitlines() == [
        b"aag 3 2 0 4 1", b"2", b"4", b"2", b"0", b"3", b"6", b"6 4 3",
    ]  # fmt: skip


def test_different_circuits_are_not_proved_equal() -> None:
    xor, conjunction = (from_rows(2, [(gate, 2, 3)], [4]) for gate in (XOR, AND))
    assert not is_proved_equal(xor, conjunction)
    with pytest.raises(ValueError, match=r"as many inputs and outputs as each other, got \(2, 1\) and \(3, 1\)"):
        is_proved_equal(xor, from_rows(3, [], [4]))


def make_model() -> Model:
    columns = (Numeric("größe\nin cm", [1.5, 180]), Categorical("job", ("a b", "c#d\\"), missing=True))
    circuit = from_rows(5, [(AND, 2, 4), (XOR, 3, 5), (AND, 6, 3)], [7, 8, 9, 2])
    return Model(
        Encoder(columns, named=True),
        Circuit(5, circuit.gate, circuit.a, circuit.b, circuit.outputs, [0, 2, 4]),
        Classes(("x", "y"), tau=1.0, group_size=2),
    )


def test_names_are_those_of_the_encoder() -> None:
    model = make_model()
    assert to_aiger(model, head="class", ascii=True)["model.aag"].decode("ascii").splitlines()[-6:] == [
        r"i0 gr\xf6\xdfe\nin cm > 1.5",
        r"i1 gr\xf6\xdfe\nin cm > 180",
        "i2 job = a b",
        r"i3 job = c#d\\",
        "i4 job is missing",
        "o0 class_0_0",
    ]
    assert to_blif(model)["model.blif"].decode("ascii").splitlines()[1:7] == [
        r"# gr\xf6\xdfe\nin cm > 180: i1_gr_e_in_cm_gt_180",
        "# job = a b: i2_job_eq_a_b",
        r"# job = c#d\\: i3_job_eq_c_d",
        "# job is missing: i4_job_is_missing",
        ".model model",
        ".inputs i0_gr_e_in_cm_gt_1p5 i1_gr_e_in_cm_gt_180 i2_job_eq_a_b i3_job_eq_c_d i4_job_is_missing",
    ]
    assert is_proved_equal(from_aiger(to_aiger(model)["model.aig"]), model.circuit)


def test_names_that_say_the_same_are_told_apart() -> None:
    columns = (Categorical("a", ("b = c", "d")), Categorical("a = b", ("c", "d")))
    model = Model(Encoder(columns, named=True), from_rows(4, [], [2, 4]), Classes(("x",), tau=1.0, group_size=2))
    assert len(set(name_pins(model).input_names)) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: to_aiger(adder(2), head="max"), "head must be bits, counts or class, got 'max'"),
        (lambda: to_blif(adder(2), name="a b"), "name must be a letter, then letters, digits and _.* got 'a b'"),
        (lambda: aiger.to_aiger(adder(2), input_names=["x"]), "input_names must be 4, one for each input, got 1"),
        (lambda: simplify(adder(2), effort="most"), "effort must be native or abc, got 'most'"),
    ],
)
def test_bad_arguments_are_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "must start with aig or aag"),
        (b"aig 1 1 0 1 0 1\n2\n", "must start with aig or aag"),
        (b"aag 1 0 1 0 0\n2 2\n", "must have no latches"),
        (b"aig 5 2 0 1 1\n6\n\x01\x01", "got 5, 2 and 1"),
        (b"aig 9999999999 9999999999 0 0 0\n", "at most 1073741823"),
        (b"aig 1000000002 2 0 1 1000000000\n6\n\x01\x01", "must hold 1000000000 ANDs, got 2 bytes"),
        (b"aig 3 2 0 1000000000 1\n6\n\x01\x01", "must have 1000000000 more lines"),
        (b"aig 3 2 0 1 1\n8\n\x02\x02", "literals below 8, got 8"),
        (b"aig 3 2 0 1 1\n6\n\x00\x02", "below its own"),
        (b"aig 3 2 0 1 1\n6\n\x02\x07", "below its own"),
        (b"aig 3 2 0 1 1\n6\n\xff\xff\xff\xff\xff\x01\x01", "fit 31 bits"),
        (b"aig 3 2 0 1 1\n6\n\x02\xff", "must end"),
        (b"aig 3 2 0 1 1\n6 6\n\x02\x02", "must hold 1 numbers"),
        (b"aig 3 2 0 1 1\n-6\n\x02\x02", "must hold 1 numbers"),
        (b"aig 3 2 0 1 1\n6\n\x02\x02junk", "must end with names"),
        (b"aig 3 2 0 1 1\n6\n\x02\x02i2 x\n", "must end with names"),
        (b"aag 3 2 0 1 1\n4\n2\n6\n6 4 2\n", "rising order"),
        (b"aag 3 2 0 1 1\n2\n4\n6\n6 4\n2\n", "must hold 3 numbers"),
    ],
)
def test_damaged_files_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_aiger(data)


def test_files_with_names_and_comments_are_read() -> None:
    data = b"aig 3 2 0 1 1\n7\n\x02\x02i0 left\no0 nand\nc\nwhatever\x00\xff"
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], bool)
    assert evaluate_outputs(from_aiger(data), rows).ravel().tolist() == [True, True, True, False]


@hypothesis.given(data=st.data())
def test_no_file_does_more_than_raise_value_error(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    content = bytearray(aiger.to_aiger(random_dag(rng, 5, 20, 4), ascii=data.draw(st.booleans())))
    for _ in range(data.draw(st.integers(1, 4))):
        content[rng.integers(len(content))] = rng.integers(256)
    cut = content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content
    try:
        circuit = from_aiger(bytes(cut))
    except ValueError:
        return
    circuit.validate()


def test_abc_effort_is_equal_and_not_larger() -> None:
    rng = np.random.default_rng(3)
    for circuit in (random_dag(rng, 6, 100, 20), random_layers(rng, 30, [60] * 4, 2), Circuit(2, [], [], [], [], [0])):
        native, found = simplify(circuit), simplify(circuit, effort="abc")
        assert found.n_gates <= native.n_gates
        assert np.array_equal(found.group_ptr, circuit.group_ptr)
        assert is_proved_equal(circuit, found)


def test_abc_effort_finds_what_local_rules_do_not() -> None:
    circuit = random_layers(np.random.default_rng(6), 8, [40, 40, 40], 1)
    assert simplify(circuit, effort="abc").n_gates < simplify(circuit).n_gates


def test_results_that_are_not_proved_equal_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = random_layers(np.random.default_rng(6), 8, [40, 40, 40], 1)
    monkeypatch.setattr("gatewise.tools.abc.is_proved_equal", lambda *_: False)
    assert simplify(circuit, effort="abc") == simplify(circuit)


def test_failures_are_reported_and_files_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ToolError, match=r"read_aiger in\.aig; no_such_command.* must succeed"):
        restructure(adder(2), "no_such_command; quit")
    assert is_proved_equal(adder(2), adder(2))
    assert os.listdir(tmp_path) == []


def test_importing_gatewise_looks_for_no_tool() -> None:
    code = "import sys, gatewise; print('pyosys' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
