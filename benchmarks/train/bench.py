"""Contenders side by side: how they are started, timed for every size and number of threads, and recorded."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import records
from benchmarks.infer.table import verdict_lines
from benchmarks.infer.targets import Verdict
from benchmarks.peers.install import install_for_training
from benchmarks.process import run_pinned, usable_cores
from benchmarks.train import table

SETTINGS = {
    "gatewise": ["step", "autograd"],
    "difflogic": ["eager", "compile"],
    "torchlogix": ["raw-eager", "warp-compile", "light-compile"],
}
EVERY_SETTING = SETTINGS | {
    "torchlogix": [f"{kind}-{mode}" for mode in ("eager", "compile") for kind in ("raw", "warp", "light")]
}
SINGLE_THREADED = ("difflogic", "compile")  # nothing that difflogic offers; timed once, to be fair

Result = dict[str, Any]
Command = tuple[list[str], dict[str, str]]  # the words, and the environment variables


def make_parser(doc: str | None, sizes: list[str]) -> argparse.ArgumentParser:
    """A parser of the options that these benchmarks have."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", choices=sizes, default=sizes)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2.0, help="for how long every contender is timed")
    records.add_options(parser)
    return parser


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


def time_sizes(args: argparse.Namespace, make_bench: Callable[[str], Bench]) -> list[Result]:
    """Time the contenders of every size with every number of threads, and print a table."""
    print(table.header())
    results = []
    for size in args.sizes:
        bench = make_bench(size)
        for n_threads in args.threads:
            results.append({"size": size, "threads": n_threads, "contenders": bench.run_size(size, n_threads)})
            print(table.size_lines(results[-1]), flush=True)
    return results


def conclude(
    name: str, args: argparse.Namespace, run: records.Record, verdicts: Iterable[Verdict], findings: Result
) -> None:
    """Print what became of the targets, and write the record if it is asked for."""
    verdicts = list(verdicts)
    print(verdict_lines(verdicts))
    if args.record:
        judged = [asdict(verdict) | {"outcome": verdict.outcome} for verdict in verdicts]
        records.write(name, run, findings | {"targets": judged})
