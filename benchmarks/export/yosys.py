"""Synthesize one Verilog file with yosys: lookup tables, flip-flops and depth, as JSON on the last line.

    python -m benchmarks.export.yosys FILE TOP LUT_INPUTS

Modules that ask to be kept are kept while tables are made, and flattened only to be counted.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

from pyosys import libyosys as ys


def main() -> None:
    """Run the passes in this process; yosys prints what it likes, which is why it has one of its own."""
    file, top, n_inputs = sys.argv[1:]
    design = ys.Design()
    flatten = ["setattr -mod -unset keep_hierarchy", "flatten", "delete t:$scopeinfo"]
    for command in (
        f"read_verilog {file}",
        f"synth -flatten -top {top}",
        f"abc -lut {n_inputs}",
        "opt_clean",
        *flatten,
    ):
        ys.run_pass(f"tee -q {command}", design)
    with tempfile.TemporaryDirectory() as folder:
        ys.run_pass(f"tee -q -o {folder}/stat stat -json", design)
        ys.run_pass(f"tee -q -o {folder}/path ltp -noff", design)
        stat = Path(folder, "stat").read_text()
        path = Path(folder, "path").read_text()
    cells = json.loads(stat[stat.index("{") :])["design"]["num_cells_by_type"]
    others = set(cells) - {"$lut", "$_DFF_P_"}
    if others:
        raise SystemExit(f"cells must be tables and flip-flops, got {sorted(others)}")
    depth = re.search(r"length=(\d+)", path)
    print()
    print(json.dumps({"luts": cells["$lut"], "ffs": cells.get("$_DFF_P_", 0), "depth": int(depth[1]) if depth else 0}))


if __name__ == "__main__":
    main()
