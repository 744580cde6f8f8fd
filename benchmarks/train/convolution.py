"""The step of convolutions: on bits, on floats, and torchlogix's, in one run.

    python -m benchmarks.train.convolution --record      # benchmarks/results/convolution.json

Every contender runs as in `benchmarks.train`: in a process of its own, on as many cores as it has threads. torchlogix
computes in floats; --every-setting runs all six of its settings, of which the best count.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from benchmarks import records
from benchmarks.infer.table import verdict_lines
from benchmarks.infer.targets import Verdict, is_disturbed
from benchmarks.peers.install import find_folder, install_for_training
from benchmarks.train import table
from benchmarks.train.__main__ import EVERY_SETTING, SETTINGS, Bench
from benchmarks.train.sizes import CONVOLUTION_SIZES
from benchmarks.train.targets import entries_of
from benchmarks.train.trees import SETTINGS as OURS

Result = dict[str, Any]

TARGET, STRETCH = 30, 100  # over torchlogix


def judge(results: list[Result]) -> Iterator[Verdict]:
    """The step on bits over the best of torchlogix's, for every size and number of threads."""
    for result in results:
        ours, peers = entries_of(result, "gatewise"), entries_of(result, "torchlogix")
        if not peers:
            continue
        best = min(peers, key=lambda entry: entry["step_ms"])
        threads = f"{result['threads']} thread{'s' * (result['threads'] > 1)}"
        title = f"{result['size']}, {threads}: on bits, over torchlogix {best['setting']}"
        disturbed = any(map(is_disturbed, [ours[0], *peers]))
        yield Verdict(title, best["step_ms"] / ours[0]["step_ms"], TARGET, STRETCH, disturbed=disturbed)


def main() -> None:
    """Run, print the table and the verdicts, write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=list(CONVOLUTION_SIZES), default=list(CONVOLUTION_SIZES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--every-setting", action="store_true", help="all six settings of torchlogix")
    parser.add_argument("--seconds", type=float, default=2.0, help="for how long every contender is timed")
    records.add_options(parser)
    args = parser.parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    peer = replace(install_for_training("torchlogix", find_folder()), runner="trees")
    ours = [sys.executable, "-m", "benchmarks.train.trees"]
    commands = {"gatewise": (ours, {}), "torchlogix": (peer.command(), peer.environment)}
    settings = (EVERY_SETTING if args.every_setting else SETTINGS) | {"gatewise": OURS}
    bench = Bench(commands, settings, seconds=args.seconds)
    print(table.header())
    results = []
    for size in args.sizes:
        for n_threads in args.threads:
            results.append({"size": size, "threads": n_threads, "contenders": bench.run_size(size, n_threads)})
            print(table.size_lines(results[-1]), flush=True)
    verdicts = list(judge(results))
    print(verdict_lines(verdicts))
    if args.record:
        judged = [asdict(verdict) | {"outcome": verdict.outcome} for verdict in verdicts]
        sizes = {size: asdict(CONVOLUTION_SIZES[size]) for size in args.sizes}
        records.write("convolution", run, {"sizes": sizes, "results": results, "targets": judged})


if __name__ == "__main__":
    main()
