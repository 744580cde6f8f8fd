"""Verilog simulated by Icarus Verilog and synthesized by yosys, against the reference evaluator."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.corpus import circuits, from_rows, random_layers
from support.netlists import simulate
from support.tools import require_module

from gatewise import Circuit, Encoder, Model
from gatewise.encode import Categorical, Numeric
from gatewise.export.pins import HeadForm
from gatewise.export.verilog import to_verilog
from gatewise.export.verilog.compressors import CompressorTree, LutInputs
from gatewise.heads import Affine, Classes, Head

CORPUS = circuits()


def assert_passes(source: Model | Circuit, **options: object) -> dict[str, bytes]:
    """The files, whose own testbench has passed."""
    files = to_verilog(source, n_vectors=100, **options)  # type: ignore[arg-type]
    assert files == to_verilog(source, n_vectors=100, **options)  # type: ignore[arg-type]
    assert simulate(files, "model_tb.v", "model.v") == "PASS: 100 rows\n"
    return files


def test_text() -> None:
    circuit = Circuit(2, gate=[6, 14], a=[2, 4], b=[3, 2], outputs=[5, 2, 4], group_ptr=[0, 3])
    assert (
        to_verilog(circuit, name="three", head="counts", pipeline=2)["three.v"].decode()
        == """\
// 2 gates, 1 compressors, 5 flip-flops
(* keep_hierarchy = "yes" *)
module three_add_3_0_2 (
  input wire [2:0] x,
  output wire [1:0] y
);
  assign y = x[0] + x[1] + x[2];
endmodule
module three (
  input wire clk,
  input wire [1:0] bits,
  output wire [1:0] counts
);
  localparam LATENCY = 2;  // clock cycles from inputs to outputs
  reg b0_1;
  reg w4_1;
  reg w5_1;
  reg w6_2;
  reg w7_2;
  wire w4 = bits[0] ^ bits[1];
  wire w5 = ~(w4 & bits[0]);
  wire w6, w7;
  three_add_3_0_2 c6 (.x({w5_1, w4_1, b0_1}), .y({w7, w6}));
  always @(posedge clk) begin
    b0_1 <= bits[0];
    w4_1 <= w4;
    w5_1 <= w5;
    w6_2 <= w6;
    w7_2 <= w7;
  end
  assign counts[0] = w6_2;
  assign counts[1] = w7_2;
endmodule
"""
    )


@pytest.mark.parametrize("head", ["bits", "counts", "class"])
@pytest.mark.parametrize("name", ["empty, one group", "ten groups", "repeated outputs", "DAG (12, 1000, 64)"])
def test_own_testbench(name: str, head: HeadForm) -> None:
    for pipeline in (None, 1, 4):
        assert_passes(CORPUS[name], head=head, pipeline=pipeline)
    assert_passes(CORPUS[name], head=head, lut_inputs=4)


def test_own_testbench_notices_errors() -> None:
    files = assert_passes(CORPUS["8-bit adder"])
    files["model.v"] = files["model.v"].replace(b" & ", b" | ", 1)
    assert re.search(
        r"row \d+: expected [01]+, got [01]+\n(.*\n)*FAIL: \d+ of 100",
        simulate(files, "model_tb.v", "model.v"),
    )


def make_model(head: Head) -> Model:
    columns = (
        Numeric("größe; endmodule", [-np.inf, -1e30, -4.25, 0.1, 1.0, 7.3, 1.7e308], missing=True),
        Numeric("unread", []),
        Categorical("job|x", ("nurse", "cl\nerk\\", 3), missing=True),
        Categorical("code", (1, 2.5, 0.1, 1e9)),
        Numeric("wire", [2.0]),
        Categorical("sex", ("f",)),
    )
    encoder = Encoder(columns, named=True)
    n_outputs = head.n_groups * head.group_size
    circuit = random_layers(np.random.default_rng(0), encoder.n_bits, [40, n_outputs], head.n_groups)
    return Model(encoder, circuit, head)


@pytest.mark.filterwarnings("ignore:columns must be compared")
@pytest.mark.parametrize("pipeline", [None, 1, 3])
@pytest.mark.parametrize("fixed_point", [None, (8, 2), (1, 0), (53, 20), (16, 16)])
def test_models(fixed_point: tuple[int, int] | None, pipeline: int | None) -> None:
    model = make_model(Classes(("a", "b", "c"), tau=1.0, group_size=7))
    files = assert_passes(model, fixed_point=fixed_point, pipeline=pipeline)
    assert set(files) == {"model.v", "model_tb.v", "vectors.txt", "README.md"}


def test_columns_out_of_the_range_of_a_format_are_named() -> None:
    columns = (Numeric("age", [17.5, 37.5]), Numeric("income", [-np.inf, 2e4]), Categorical("code", (1, 2.5)))
    model = Model(Encoder(columns, named=True), from_rows(6, [], [2]), Affine((1.0,), (0.0,), group_size=1))
    holder = "numbers that 8 bits, 4 of them below the point, can hold"
    with pytest.warns(UserWarning, match=f"{holder}, got others for 'age', 'income': .*wider fixed_point") as found:
        to_verilog(model, fixed_point=(8, 4))
    assert [Path(warning.filename).name for warning in found] == ["test_verilog.py"]
    with pytest.warns(UserWarning, match="got others for 'code'"):
        to_verilog(model, fixed_point=(16, 0))
    to_verilog(model, fixed_point=(17, 1))


@pytest.mark.filterwarnings("ignore:columns must be compared")
def test_every_bit_of_an_encoder_is_exact() -> None:
    encoder = make_model(Affine((1.0,), (0.0,), group_size=5)).encoder
    n = encoder.n_bits
    circuit = Circuit(n, [], [], [], np.arange(n) + 2, np.arange(n + 1))
    model = Model(encoder, circuit, Affine((1.0,) * n, (0.0,) * n, group_size=1))
    for fixed_point in ((12, 3), (6, 0), (40, 1)):
        assert_passes(model, head="bits", fixed_point=fixed_point)


def test_trained_model() -> None:
    require_module("torch", "pip install 'gatewise[torch]'")
    datasets = require_module("sklearn.datasets", "pip install 'gatewise[sklearn]'")
    from gatewise import LogicClassifier

    X, y = datasets.load_iris(return_X_y=True)
    model = LogicClassifier(random_state=0).fit(X, y).model_
    files = assert_passes(model, fixed_point=(12, 4), pipeline=4)
    assert_passes(model)
    (latency,) = re.findall(r"LATENCY = (\d+);", files["model.v"].decode())
    assert (
        f"LATENCY = {latency}: outputs belong to the inputs of {latency} clock cycles before"
        in files["README.md"].decode()
    )


@pytest.mark.filterwarnings("ignore:columns must be compared")
def test_readme_states_the_interface() -> None:
    text = to_verilog(make_model(Classes(("a", "b"), tau=2.0, group_size=6)), fixed_point=(8, 2))["README.md"].decode()
    for line in (
        r'| `x0_gr_e_endmodule` | 8 | yes | `"gr\u00f6\u00dfe; endmodule"` * 4 |',
        r'| `x0_gr_e_endmodule_missing` | 1 | no | 1 where `"gr\u00f6\u00dfe; endmodule"` is missing |',
        r'code of `"job\|x"`: 0 = `"nurse"`, 1 = `"cl\nerk\\"`, 2 = `3`, 3 or above = any other |',
        "| `class_index` | 1 | index of the class, that of the largest count, ties to the lowest |",
        "| `counts` | 6 | 2 numbers of 3 bits, that of group 0 lowest: the true outputs of each group |",
        'Classes: 0 = `"a"`, 1 = `"b"`. Score of a class: count / 2.0.',
        "LATENCY = 0: outputs follow the inputs without a clock.",
    ):
        assert line in text
    values = to_verilog(make_model(Affine((2.0,), (0.5,), group_size=5)))["README.md"].decode()
    assert "Values, where share = count / 5: 2.0 * share + 0.5." in values
    assert "| `bits[0]` | gr\\xf6\\xdfe; endmodule > -inf |" in values


@pytest.mark.parametrize(("lut_inputs", "per_bit"), [(6, 1), (4, 2)])
@pytest.mark.parametrize("n", [*range(40), 100, 800])
def test_counts_take_about_a_table_a_bit(n: int, lut_inputs: LutInputs, per_bit: int) -> None:
    tree = CompressorTree([0] * (n + 2), cost=1, lut_inputs=lut_inputs)
    number = tree.count(range(2, n + 2))
    assert len(number) == n.bit_length()
    assert sum(len(compressor.outputs) for compressor in tree.compressors) <= per_bit * n - len(number) + 5
    for compressor in tree.compressors:
        assert len(compressor.inputs) <= lut_inputs
        assert len(compressor.ones) + 2 * len(compressor.twos) < 8


def test_synthesis(tmp_path: Path) -> None:
    require_module("pyosys", "pip install 'gatewise[export]'")
    files = to_verilog(CORPUS["ten groups"], head="counts", pipeline=2)
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    code = "from pyosys import libyosys as ys; d = ys.Design(); [ys.run_pass(p, d) for p in {passes}]".format(
        passes=["read_verilog model.v", "synth -flatten -lut 6", "flatten", "stat"]
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (n_registers,) = re.findall(r"(\d+) flip-flops", files["model.v"].decode())
    found = [int(n) for n in re.findall(r"(\d+)\s+\$_DFF_P_", done.stdout)]
    assert found[-1] <= int(n_registers)
    assert "$lut" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "module"}, "name must be a letter, then .* no keyword, got 'module'"),
        ({"name": "A b"}, "name must be a letter"),
        ({"pipeline": 0}, "pipeline must be at least 1, got 0"),
        ({"lut_inputs": 5}, "lut_inputs must be 4 or 6, got 5"),
        ({"n_vectors": 0}, "n_vectors must be at least 1, got 0"),
        ({"head": "max"}, "head must be bits, counts or class, got 'max'"),
        ({"fixed_point": (8, 2)}, "source must be a Model to have columns"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_verilog(from_rows(2, [], [2]), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("fixed_point", [(0, 0), (54, 0), (8, 9), (8, -1)])
def test_bad_formats_are_refused(fixed_point: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"fixed_point must be a width in 1\.\.53 and a fraction in 0\.\.width"):
        to_verilog(make_model(Affine((2.0,), (0.5,), group_size=5)), fixed_point=fixed_point)
