"""Training speed, side by side with difflogic and torchlogix in one run.

    python -m benchmarks.train --record      # benchmarks/results/train.json: every size, contender and setting
    python -m benchmarks.train --quick       # two sizes, one thread
    python -m benchmarks.train --every-setting

A step is forward, backward and Adam on one batch of 100 rows. Every contender runs in a process of its own, tied
to as many cores as it has threads, with nothing compiled beforehand; its loss must fall, the run ends otherwise.
Peers are kept in build/peers (or $GATEWISE_PEERS). Of torchlogix's six settings the three are timed that were the
fastest of a size in runs of all six, which --every-setting repeats. Most of the time is torch.compile's.
"""

import argparse

from benchmarks import records
from benchmarks.peers.install import find_folder
from benchmarks.train import targets
from benchmarks.train.bench import EVERY_SETTING, SETTINGS, Bench, conclude, find_commands, make_parser, time_sizes
from benchmarks.train.sizes import BATCH, SIZES

QUICK_SIZES = ["monk", "mnist-small"]


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__, list(SIZES))
    parser.add_argument("--quick", action="store_true", help="two sizes, one thread")
    parser.add_argument("--contenders", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--every-setting", action="store_true", help="all six settings of torchlogix")
    args = parser.parse_args()
    if args.quick:
        args.sizes, args.threads = QUICK_SIZES, [1]
    return args


def main() -> None:
    """Run, print the table and the verdicts, write the record."""
    args = parse_arguments()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    commands = find_commands(args.contenders, find_folder())
    bench = Bench(commands, EVERY_SETTING if args.every_setting else SETTINGS, seconds=args.seconds)
    results = time_sizes(args, lambda _: bench)
    conclude("train", args, run, targets.judge(results), {"batch": BATCH, "results": results})


if __name__ == "__main__":
    main()
