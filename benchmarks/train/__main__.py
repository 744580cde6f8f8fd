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
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import records
from benchmarks.infer.table import verdict_lines
from benchmarks.peers.install import find_folder, install_for_training
from benchmarks.process import run_pinned, usable_cores
from benchmarks.train import table, targets
from benchmarks.train.sizes import BATCH, SIZES

SETTINGS = {
    "gatewise": ["step", "autograd"],
    "difflogic": ["eager", "compile"],
    "torchlogix": ["raw-eager", "warp-compile", "light-compile"],
}
EVERY_SETTING = SETTINGS | {
    "torchlogix": [f"{kind}-{mode}" for mode in ("eager", "compile") for kind in ("raw", "warp", "light")]
}
SINGLE_THREADED = ("difflogic", "compile")  # nothing that difflogic offers; timed once, to be fair
QUICK_SIZES = ["monk", "mnist-small"]

Command = tuple[list[str], dict[str, str]]  # the words, and the environment variables


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two sizes, one thread")
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--contenders", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--every-setting", action="store_true", help="all six settings of torchlogix")
    parser.add_argument("--seconds", type=float, default=2.0, help="for how long every contender is timed")
    records.add_options(parser)
    args = parser.parse_args()
    if args.quick:
        args.sizes, args.threads = QUICK_SIZES, [1]
    return args


def find_commands(contenders: list[str], folder: Path) -> dict[str, Command]:
    """How to start every contender's runner; installs the peers unless they are there already."""
    commands: dict[str, Command] = {}
    for name in contenders:
        if name == "gatewise":
            commands[name] = [sys.executable, "-m", "benchmarks.train.ours"], {}
        else:
            peer = install_for_training(name, folder)
            commands[name] = peer.command(), peer.environment
    return commands


class Bench:
    """One run of the benchmark: the contenders' commands and settings, and the cores they use."""

    def __init__(self, commands: dict[str, Command], settings: dict[str, list[str]], *, seconds: float) -> None:
        self.commands = commands
        self.settings = settings
        self.seconds = seconds
        self.cores = usable_cores()

    def run_size(self, size_name: str, n_threads: int) -> list[dict[str, Any]]:
        """What every contender measured in every setting."""
        return [
            {"contender": name} | self._run(name, setting, size_name, n_threads)
            for name in self.commands
            for setting in self.settings[name]
            if n_threads == 1 or (name, setting) != SINGLE_THREADED
        ]

    def _run(self, name: str, setting: str, size_name: str, n_threads: int) -> dict[str, Any]:
        command, variables = self.commands[name]
        options = ["--setting", setting, "--threads", str(n_threads), "--seconds", str(self.seconds)]
        with tempfile.TemporaryDirectory() as empty_cache:
            isolation = {"OMP_NUM_THREADS": str(n_threads), "TORCHINDUCTOR_CACHE_DIR": empty_cache}
            cores = self.cores[:n_threads]
            return run_pinned([*command, size_name, *options], cores, **variables, **isolation)


def main() -> None:
    """Run, print the table and the verdicts, write the record."""
    args = parse_arguments()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    commands = find_commands(args.contenders, find_folder())
    bench = Bench(commands, EVERY_SETTING if args.every_setting else SETTINGS, seconds=args.seconds)
    print(table.header())
    results = []
    for size_name in args.sizes:
        for n_threads in args.threads:
            entries = bench.run_size(size_name, n_threads)
            results.append({"size": size_name, "threads": n_threads, "contenders": entries})
            print(table.size_lines(results[-1]), flush=True)
    verdicts = targets.judge(results)
    print(verdict_lines(verdicts))
    if args.record:
        judged = [asdict(verdict) | {"outcome": verdict.outcome} for verdict in verdicts]
        records.write("train", run, {"batch": BATCH, "results": results, "targets": judged})


if __name__ == "__main__":
    main()
