"""Runner of torchlogix's Verilog generator: the simplified net as a file. See `torchlogix_net` for how it is loaded.

python -m benchmarks.peers.torchlogix_verilog NET FILE
"""

import json
import sys
from pathlib import Path

from benchmarks.nets import Net
from benchmarks.peers.torchlogix_net import describe, load_circuit_module


def main() -> None:
    """Simplify and write by the peer's own calls; print the number of gates as JSON."""
    net, file = Net.load(Path(sys.argv[1])), sys.argv[2]
    module = load_circuit_module()
    circuit = module.Circuit.from_dict(describe(net, module.LUT_ID_TO_GATE))
    circuit.simplify()
    circuit.write_verilog_code(file)
    print(json.dumps({"n_gates": len(circuit.gates)}))


if __name__ == "__main__":
    main()
