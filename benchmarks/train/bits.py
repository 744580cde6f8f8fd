"""The step on bits: over the step on floats, and over torchlogix, in one run.

    python -m benchmarks.train.bits --record      # benchmarks/results/bits.json

Every contender runs as in `benchmarks.train`: in a process of its own, on as many cores as it has threads, torchlogix
in the same settings. With learned wires both have as many candidates a pin, and both read the best of them;
torchlogix computes in floats.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from benchmarks import records
from benchmarks.infer.table import verdict_lines
from benchmarks.infer.targets import Verdict, is_disturbed
from benchmarks.peers.install import find_folder
from benchmarks.train import table
from benchmarks.train.__main__ import SETTINGS, Bench, find_commands
from benchmarks.train.sizes import BIT_SIZES
from benchmarks.train.targets import entries_of

Result = dict[str, Any]

CONTENDERS = {  # settings of each size, ours on bits first
    "mnist-small": {"gatewise": ["bits", "step"]},
    "mnist-small-256": {"gatewise": ["bits", "step"]},
    "learned-16k": {"gatewise": ["bits"], "torchlogix": SETTINGS["torchlogix"]},
    "mnist-normal": {"gatewise": ["bits", "step"], "torchlogix": SETTINGS["torchlogix"]},
}
OVER_FLOATS = {"mnist-small": (3, 6), "mnist-small-256": (3, 6)}  # target, stretch
OVER_TORCHLOGIX = {"learned-16k": (30, 100), "mnist-normal": (15, 30)}


def judge(results: list[Result]) -> Iterator[Verdict]:
    """Every target that the results can answer."""
    for result in results:
        size, ours, peers = result["size"], entries_of(result, "gatewise"), entries_of(result, "torchlogix")
        others = {"the step on floats": (ours[1:], OVER_FLOATS), "torchlogix": (peers, OVER_TORCHLOGIX)}
        for name, (entries, targets) in others.items():
            if size in targets and entries:
                best = min(entries, key=lambda entry: entry["step_ms"])
                n_threads = result["threads"]
                title = f"{size}, {n_threads} thread{'s' * (n_threads > 1)}: on bits, over {name} {best['setting']}"
                disturbed = any(map(is_disturbed, [ours[0], *entries]))
                yield Verdict(title, best["step_ms"] / ours[0]["step_ms"], *targets[size], disturbed=disturbed)


def main() -> None:
    """Run, print the table and the verdicts, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=list(BIT_SIZES), default=list(BIT_SIZES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2.0, help="for how long every contender is timed")
    records.add_options(parser)
    args = parser.parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    commands = find_commands(["gatewise", "torchlogix"], find_folder())
    print(table.header())
    results = []
    for size in args.sizes:
        settings = CONTENDERS[size]
        bench = Bench({name: commands[name] for name in settings}, settings, seconds=args.seconds)
        for n_threads in args.threads:
            results.append({"size": size, "threads": n_threads, "contenders": bench.run_size(size, n_threads)})
            print(table.size_lines(results[-1]), flush=True)
    verdicts = list(judge(results))
    print(verdict_lines(verdicts))
    if args.record:
        judged = [asdict(verdict) | {"outcome": verdict.outcome} for verdict in verdicts]
        sizes = {size: asdict(BIT_SIZES[size]) for size in args.sizes}
        records.write("bits", run, {"sizes": sizes, "results": results, "targets": judged})


if __name__ == "__main__":
    main()
