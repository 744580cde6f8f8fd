"""The step of convolutions: on bits, on floats, and torchlogix's, in one run.

    python -m benchmarks.train.convolution --record      # benchmarks/results/convolution.json

Every contender runs as in `benchmarks.train`: in a process of its own, on as many cores as it has threads. torchlogix
computes in floats, and its step of the larger network takes seconds, so that one is timed with the first of --threads
only. --every-setting runs all six of its settings, of which the best count.
"""

import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, replace

from benchmarks import records
from benchmarks.infer.targets import Verdict, is_disturbed
from benchmarks.peers.install import find_folder, install_for_training
from benchmarks.train.bench import EVERY_SETTING, SETTINGS, Bench, Result, conclude, make_parser, time_sizes
from benchmarks.train.sizes import CONVOLUTION_SIZES
from benchmarks.train.targets import entries_of
from benchmarks.train.trees import SETTINGS as OURS

TARGET, STRETCH = 30, 100  # over torchlogix
LARGE = "trees-cifar"


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
    parser = make_parser(__doc__, list(CONVOLUTION_SIZES))
    parser.add_argument("--every-setting", action="store_true", help="all six settings of torchlogix")
    args = parser.parse_args()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    peer = replace(install_for_training("torchlogix", find_folder()), runner="trees")
    ours = [sys.executable, "-m", "benchmarks.train.trees"]
    commands = {"gatewise": (ours, {}), "torchlogix": (peer.command(), peer.environment)}
    settings = (EVERY_SETTING if args.every_setting else SETTINGS) | {"gatewise": OURS}
    bench = Bench(commands, settings, seconds=args.seconds)
    results: list[Result] = []
    for size in args.sizes:
        threads = args.threads[:1] if size == LARGE else args.threads
        results += time_sizes(Namespace(sizes=[size], threads=threads), lambda _: bench)
    sizes = {size: asdict(CONVOLUTION_SIZES[size]) for size in args.sizes}
    conclude("convolution", args, run, judge(results), {"sizes": sizes, "results": results})


if __name__ == "__main__":
    main()
