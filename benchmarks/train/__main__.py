"""Training speed, side by side with difflogic and torchlogix in one run.

    python benchmarks/train.py [--quick] [--sizes monk adult] [--threads 1 2] [--json benchmarks/results/train.json]

A step is forward, backward and Adam on one batch of 100 rows. Every contender runs in a process of its own, tied
to as many cores as it has threads, with nothing compiled beforehand; its loss must fall, the run ends otherwise.
Peers are kept in build/peers (or $GATEWISE_PEERS). A full run takes about half an hour, most of it torch.compile.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import machine
import table
import train_table
import train_targets
from machine import run_pinned
from peers.install import REPOSITORY, install_for_training
from train_sizes import BATCH, SIZES

SETTINGS = {
    "gatewise": ["step", "autograd"],
    "difflogic": ["eager", "compile"],
    "torchlogix": ["raw-eager", "warp-eager", "light-eager", "raw-compile", "warp-compile", "light-compile"],
}
QUICK_SETTINGS = SETTINGS | {"difflogic": ["eager"], "torchlogix": ["raw-eager", "warp-compile", "light-compile"]}
QUICK_SIZES = ["monk", "mnist-small"]

Command = tuple[list[str], dict[str, str]]  # the words, and the environment variables


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two sizes, one thread, the peers' likely best settings")
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--contenders", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--seconds", type=float, default=4.0, help="for how long every contender is timed")
    parser.add_argument("--json", type=Path, help="where to write the results")
    args = parser.parse_args()
    if args.quick:
        args.sizes, args.threads, args.seconds = QUICK_SIZES, [1], 2.0
    return args


def find_commands(contenders: list[str], folder: Path) -> dict[str, Command]:
    """How to start every contender's runner; installs the peers unless they are there already."""
    commands: dict[str, Command] = {}
    for name in contenders:
        if name == "gatewise":
            commands[name] = [sys.executable, "ours_train.py"], {}
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
        self.cores = machine.usable_cores()

    def run_size(self, size_name: str, n_threads: int) -> list[dict[str, Any]]:
        """What every contender measured in every setting."""
        return [
            {"contender": name} | self._run(name, setting, size_name, n_threads)
            for name in self.commands
            for setting in self.settings[name]
        ]

    def _run(self, name: str, setting: str, size_name: str, n_threads: int) -> dict[str, Any]:
        command, variables = self.commands[name]
        options = ["--setting", setting, "--threads", str(n_threads), "--seconds", str(self.seconds)]
        with tempfile.TemporaryDirectory() as empty_cache:
            isolation = {"OMP_NUM_THREADS": str(n_threads), "TORCHINDUCTOR_CACHE_DIR": empty_cache}
            cores = self.cores[:n_threads]
            return run_pinned([*command, size_name, *options], cores, **variables, **isolation)


def main() -> None:
    """Run, print the table and the verdicts, write the JSON."""
    args = parse_arguments()
    peers_folder = Path(os.environ.get("GATEWISE_PEERS", REPOSITORY / "build" / "peers")).absolute()
    commands = find_commands(args.contenders, peers_folder)
    bench = Bench(commands, QUICK_SETTINGS if args.quick else SETTINGS, seconds=args.seconds)
    print(train_table.header())
    results = []
    for size_name in args.sizes:
        for n_threads in args.threads:
            entries = bench.run_size(size_name, n_threads)
            results.append({"size": size_name, "threads": n_threads, "contenders": entries})
            print(train_table.size_lines(results[-1]), flush=True)
    verdicts = train_targets.judge(results)
    print(table.verdict_lines(verdicts))
    if args.json:
        report = {
            "machine": machine.describe(),
            "batch": BATCH,
            "results": results,
            "targets": [asdict(verdict) | {"outcome": verdict.outcome} for verdict in verdicts],
        }
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
