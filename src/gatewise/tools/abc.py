"""ABC, the logic synthesis tool of UC Berkeley, run as a process: proofs of equality, and other forms of a circuit.

In: circuits. Out: answers, or circuits read back from what ABC wrote.
Invariant: a circuit that comes back computes what its script keeps; nothing else does, unless it was proved.
"""

import re
from collections.abc import Mapping

import numpy as np

from gatewise.circuit import N_CONSTANTS, Circuit
from gatewise.extras import install_command
from gatewise.tools.aiger import from_aiger, to_aiger
from gatewise.tools.process import Tool, run_tool

ABC = Tool(
    "ABC",
    ("pyosys/yosys-abc", "yosys-abc", "berkeley-abc", "abc"),
    install_command("export"),
    variable="GATEWISE_ABC",
)


def run_abc(script: str, files: Mapping[str, bytes], wanted: str | None = None) -> tuple[str, bytes]:
    """Run commands of ABC, separated by semicolons, in a folder of its own; see `gatewise.tools.process.run_tool`."""
    return run_tool([*ABC.find(), "-q", script], files, wanted)


def is_proved_equal(first: Circuit, second: Circuit) -> bool:
    """Whether ABC proves that two circuits compute the same outputs; False also if it gives up.

    Examples
    --------
    >>> nand = Circuit(2, gate=[14], a=[2], b=[3], outputs=[4], group_ptr=[0, 1])
    >>> inverted_and = Circuit(2, gate=[1, 12], a=[2, 4], b=[3, 4], outputs=[5], group_ptr=[0, 1])
    >>> is_proved_equal(nand, inverted_and)
    True
    """
    shapes = [(circuit.n_inputs, circuit.n_outputs) for circuit in (first, second)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"circuits must have as many inputs and outputs as each other, got {shapes[0]} and {shapes[1]}"
        )
    if first.n_outputs == 0:
        return True  # ABC refuses such networks
    files = {"first.aig": to_aiger(first), "second.aig": to_aiger(second)}
    printed, _ = run_abc("cec first.aig second.aig", files)
    return "Networks are equivalent" in printed


def restructure(circuit: Circuit, script: str) -> Circuit:
    """What ABC makes of a circuit by `script`, AND gates with inverters; the outputs keep their groups."""
    if circuit.n_outputs == 0:
        return circuit
    _, made = run_abc(f"read_aiger in.aig; {script}; write_aiger out.aig", {"in.aig": to_aiger(circuit)}, "out.aig")
    read = from_aiger(made)
    return Circuit(read.n_inputs, read.gate, read.a, read.b, read.outputs, circuit.group_ptr)


def count_tables(circuit: Circuit, n_inputs: int = 6) -> int:
    """Lookup tables of so many inputs that ABC makes of a circuit, as an FPGA has them; without its counters.

    Examples
    --------
    >>> count_tables(Circuit(3, gate=[6, 6], a=[2, 5], b=[3, 4], outputs=[6, 6, 2], group_ptr=[0, 3]))
    1
    """
    # ABC gives each output a table of its own, also if it is an input or another output; counters need none for those.
    outputs = np.unique(circuit.outputs[circuit.outputs >= N_CONSTANTS + circuit.n_inputs])
    if len(outputs) == 0:
        return 0
    distinct = Circuit(
        circuit.n_inputs, circuit.gate, circuit.a, circuit.b, outputs, np.array([0, len(outputs)], np.int32)
    )
    script = f"read_aiger in.aig; strash; dch; if -K {n_inputs}; print_stats"
    printed, _ = run_abc(script, {"in.aig": to_aiger(distinct)})
    found = re.search(r"\bnd *= *(\d+)", printed)
    if not found:
        raise ValueError(f"ABC must print the number of nodes, got {printed!r}")
    return int(found[1])
