"""Netlists as back ends of the differential test: (circuit, rows) -> output bits, computed by someone else's tool."""

import re
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from support.tools import require_module, require_tool

from gatewise import Circuit
from gatewise.export.logic import write_aiger, write_blif
from gatewise.export.pins import name_pins
from gatewise.export.verilog import to_verilog
from gatewise.run.reference import evaluate_outputs
from gatewise.tools.abc import run_abc
from gatewise.tools.aiger import from_aiger

SIMULATION = """
module simulation;
  reg [{last_in}:0] given;
  wire [{last_out}:0] outputs;
  reg clk;
  integer file, i, n_read;
  model dut ({pins});
  initial begin
    file = $fopen("rows.txt", "r");
    clk = 0;
    for (i = 0; i < {n_cycles}; i = i + 1) begin
      n_read = $fscanf(file, "%b", given);
      #1 clk = 1;
      #1 clk = 0;
      $display("%b", outputs);
    end
    $finish;
  end
endmodule
"""

Rows = NDArray[np.bool_]
Bits = NDArray[np.bool_]


def run_aiger(circuit: Circuit, rows: Rows) -> Bits:
    """The outputs of the AIGER file after ABC has read and written it."""
    return _read_back(circuit, rows, "net.aig", write_aiger(name_pins(circuit)))


def run_ascii_aiger(circuit: Circuit, rows: Rows) -> Bits:
    """The outputs of the AIGER file for human readers, which ABC does not read."""
    return evaluate_outputs(from_aiger(write_aiger(name_pins(circuit), ascii=True)), rows)


def run_blif(circuit: Circuit, rows: Rows) -> Bits:
    """The outputs of the BLIF file after ABC has read and converted it."""
    return _read_back(circuit, rows, "net.blif", write_blif(name_pins(circuit), "net").encode())


def _read_back(circuit: Circuit, rows: Rows, name: str, content: bytes) -> Bits:
    if circuit.n_outputs == 0:  # ABC refuses such networks
        return np.zeros((len(rows), 0), bool)
    _, written = run_abc(f"read {name}; strash; write_aiger out.aig", {name: content}, "out.aig")
    return evaluate_outputs(from_aiger(written), rows)


def run_onnx(circuit: Circuit, rows: Rows) -> Bits:
    """The outputs of the ONNX file, run by onnxruntime."""
    require_module("onnx", "pip install 'gatewise[export]'")
    runtime = require_module("onnxruntime", "pip install onnxruntime")
    from gatewise.export.onnx import write_onnx

    session = runtime.InferenceSession(write_onnx(circuit), providers=["CPUExecutionProvider"])
    outputs: Bits = session.run(["outputs"], {"bits": rows})[0]
    return outputs


def simulate(files: dict[str, bytes], *sources: str) -> str:
    """What a simulation of some Verilog files prints; a warning of the compiler is an error."""
    compiler, runner = (require_tool(tool, "apt-get install iverilog") for tool in ("iverilog", "vvp"))
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        command = [compiler, "-g2001", "-Wall", "-o", "simulation", *sources]
        compiled = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert (compiled.returncode, compiled.stderr) == (0, "")
        ran = subprocess.run([runner, "-n", "simulation"], cwd=folder, capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout


def run_verilog(circuit: Circuit, rows: Rows, pipeline: int | None = None) -> Bits:
    """The outputs of the Verilog module, run by Icarus Verilog; with a pipeline, a row each clock cycle."""
    if circuit.n_outputs == 0 or len(rows) == 0:
        return np.zeros((len(rows), circuit.n_outputs), bool)
    files = to_verilog(circuit, pipeline=pipeline)
    (latency,) = re.findall(r"LATENCY = (\d+);", files["model.v"].decode())
    delay = max(int(latency) - 1, 0)  # the first register takes a row in the cycle that gives it
    pins = [".outputs(outputs)"] + [".bits(given)"] * (circuit.n_inputs > 0) + [".clk(clk)"] * (int(latency) > 0)
    files["rows.txt"] = "".join(_spell(row) for row in rows).encode()
    sizes = {"last_in": max(circuit.n_inputs, 1) - 1, "last_out": circuit.n_outputs - 1}
    bench = SIMULATION.format(pins=", ".join(pins), n_cycles=len(rows) + delay, **sizes)
    files["simulation.v"] = bench.encode()
    lines = simulate(files, "simulation.v", "model.v").split()[delay:]
    return np.array([[bit == "1" for bit in reversed(line)] for line in lines])


run_pipelined_verilog = partial(run_verilog, pipeline=2)


def _spell(row: NDArray[np.bool_]) -> str:
    """A row as a binary number, its first bit last."""
    return ("".join("01"[int(bit)] for bit in row[::-1]) or "0") + "\n"
