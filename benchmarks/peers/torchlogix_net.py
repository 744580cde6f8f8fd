"""Runner of torchlogix's compiled circuit: simplified, 64-bit packing, the optimization level of the job.

Only its circuit module is loaded (it needs Python 3.12) and given what its own `to_dict` writes. This
path uses torch for nothing but an import, which empty modules satisfy. Timed are its C functions below its
documented call: from bools to counts, and from packed words to counts.
"""

import ctypes
import importlib.util
import json
import shutil
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.nets import Net
from benchmarks.peers.job import Job, pack_words
from benchmarks.process import cpu_seconds
from benchmarks.timer import load_file, time_calls

WORD_BITS = 64


def load_circuit_module() -> types.ModuleType:
    """The peer's circuit module, without its package's `__init__`, which imports its training half."""
    for name in ("torch", "torch.fx", "torch.fx.experimental", "torch.fx.experimental.const_fold"):
        sys.modules[name] = types.ModuleType(name)
    vars(sys.modules["torch"])["fx"] = sys.modules["torch.fx"]
    vars(sys.modules["torch.fx.experimental.const_fold"])["split_const_subgraphs"] = None
    package = importlib.util.find_spec("torchlogix")
    if package is None or package.origin is None:
        raise SystemExit("torchlogix must be installed, got none; see benchmarks/peers/install.py")
    return load_file("torchlogix_circuit", Path(package.origin).with_name("circuit.py"))


def describe(net: Net, gate_table: dict[int, tuple[Any, bool, bool]]) -> dict[str, Any]:
    """The net in the peer's file format; `gate_table` is the peer's: id to (operation, uses a, uses b)."""
    gates: list[dict[str, Any]] = []
    first, width = 0, net.n_inputs
    for layer in net.layers():
        for a, b, gate in zip(*(column.tolist() for column in layer), strict=True):
            op, uses_a, uses_b = gate_table[gate]
            pins = [first + pin for pin, used in ((a, uses_a), (b, uses_b)) if used] + [-1, -1]
            gate_id = net.n_inputs + len(gates)
            gates.append({"gate_id": gate_id, "op": op.name, "in0": pins[0], "in1": pins[1]})
        first, width = first + width, len(layer[2])
    sum_id = net.n_inputs + len(gates)
    members = np.arange(first, first + width).reshape(net.n_groups, -1).tolist()
    sums = [{"node_id": sum_id + k, "input_ids": ids} for k, ids in enumerate(members)]
    return {
        "n_inputs": net.n_inputs,
        "input_shape": [net.n_inputs],
        "output_shape": [net.n_groups],
        "outputs": [entry["node_id"] for entry in sums],
        "gates": gates,
        "sum_nodes": sums,
    }


def prepare(net: Net, opt_level: int, path: Path) -> dict[str, Any]:
    """Simplify and compile by the peer's own calls; times, up to the loaded library, are processor time."""
    module = load_circuit_module()
    circuit = module.Circuit.from_dict(describe(net, module.LUT_ID_TO_GATE))
    start = cpu_seconds()
    circuit.simplify()
    simplified = cpu_seconds()
    circuit.compile(opt_level=opt_level, pack_bits=WORD_BITS)
    end = cpu_seconds()
    library = Path(circuit._lib._name)
    shutil.copy(library, path)
    library.unlink()
    library.with_suffix(".c").unlink()
    rows = np.zeros((WORD_BITS, net.n_inputs), np.bool_)
    return {
        "preparation_s": end - start,
        "simplify_s": simplified - start,
        "n_gates": len(circuit.gates),
        "counts_dtype": str(circuit(rows, use_compiled=True).dtype),
    }


def run(job: Job, path: Path, counts_dtype: str) -> dict[str, float]:
    """Nanoseconds per row from bools and from packed words; writes the counts for the caller to compare."""
    rows = job.rows()
    words = pack_words(rows)
    counts = np.zeros((len(rows), job.net.n_groups), counts_dtype)
    library = ctypes.CDLL(str(path))
    bools_in, words_in, out = (ctypes.c_void_p(array.ctypes.data) for array in (rows, words, counts))
    n_rows, n_words = ctypes.c_int(len(rows)), ctypes.c_int(len(words))
    calls = {
        "packed": lambda: library.circuit_bench(words_in, out, n_words),
        "library": lambda: library.circuit_bench_bool(bools_in, out, n_rows),
    }
    result = time_calls(calls, len(rows))
    job.save_counts(counts)
    return result


def main() -> None:
    """Compile unless cached, time when there are rows, print the findings as JSON."""
    job = Job.from_command_line()
    path, result = job.library("torchlogix", prepare)
    if job.rows_path is not None:
        result |= run(job, path, result["counts_dtype"])
    print(json.dumps(result))


if __name__ == "__main__":
    main()
