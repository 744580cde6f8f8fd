"""Inference speed, side by side with difflogic's and torchlogix's compiled nets in one run.

    python benchmarks/infer.py [--quick] [--sizes adult mnist-small] [--json benchmarks/results/infer.json]

For every net, all run on the same rows, one thread tied to one core, and must agree on every count: the run
ends otherwise. Times run from a bool array, or from packed rows, to counts. Peers and what they compile are
kept in build/peers (or $GATEWISE_PEERS): the first run compiles for half an hour, the next ones do not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import machine
import nets
import numpy as np
import table
import targets
from machine import run_pinned
from peers.install import REPOSITORY, NotInstallableError, Peer, install

from gatewise import Circuit
from gatewise.run.reference import count_groups

WORD_BITS = 64
N_REFERENCE_ROWS = 64
SIZES_OF_PEERS = ("adult", "mnist-small", "cifar-small")
SIZES_OF_TWO_THREADS = ("mnist-small",)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two small random nets, peers at -O1 only")
    parser.add_argument("--sizes", nargs="+", choices=list(nets.SIZES), default=list(nets.SIZES))
    parser.add_argument("--kinds", nargs="+", choices=nets.KINDS, default=list(nets.KINDS))
    parser.add_argument("--levels", nargs="+", type=int, default=[1, 3], help="the peers' -O levels")
    parser.add_argument("--peers", nargs="*", choices=["difflogic", "torchlogix"], default=["difflogic", "torchlogix"])
    parser.add_argument("--peer-python", help="a Python of at least 3.12, for torchlogix")
    parser.add_argument("--rows", type=int, default=100_000, help="rounded up to whole 64-bit words")
    parser.add_argument("--json", type=Path, help="where to write the results")
    args = parser.parse_args()
    if args.quick:
        args.sizes, args.kinds, args.levels = ["adult", "mnist-small"], ["random"], [1]
    return args


def install_peers(names: list[str], folder: Path, peer_python: str | None) -> list[Peer]:
    """The peers that can run here; says which cannot, and why."""
    peers = []
    for name in names:
        try:
            peers.append(install(name, folder, peer_python))
        except NotInstallableError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return peers


class Bench:
    """One run of the benchmark: where its files are and which cores it uses."""

    def __init__(self, work: Path, peers_folder: Path, peers: list[Peer], levels: list[int]) -> None:
        self.work = work
        self.compiled = peers_folder / "compiled"
        self.peers = peers
        self.levels = levels
        self.cores = machine.usable_cores()
        self.loop = work / "kernel_loop.so"
        source = machine.HERE / "peers" / "kernel_loop.c"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", self.loop, source], check=True)

    def run_net(self, size_name: str, kind: str, n_rows: int) -> dict[str, Any]:
        """Everything measured about one net, after the counts of all have been found equal."""
        size = nets.SIZES[size_name]
        net = nets.make_net(size, kind)
        rows = nets.make_rows(net, min(n_rows, size.max_rows))
        net.save(self.work / "net.npz")
        np.save(self.work / "rows.npy", rows)
        circuit = Circuit.from_layers(net.n_inputs, net.layers(), net.n_groups)
        expected = count_groups(circuit, rows[:N_REFERENCE_ROWS])
        n_rows = len(rows)
        del rows, circuit
        ours, counts = self._run([sys.executable, "ours.py"], 1)
        require_equal(counts[:N_REFERENCE_ROWS], expected, f"gatewise and the reference on {size_name} {kind}")
        result = {"size": size_name, "kind": kind, "n_gates": net.n_gates, "n_rows": n_rows, "ours": ours}
        if size_name in SIZES_OF_TWO_THREADS and len(self.cores) > 1:
            result["ours_two_threads"], again = self._run([sys.executable, "ours.py", "--threads", "2"], 2)
            require_equal(again, counts, f"two threads and one on {size_name} {kind}")
        result["peers"] = self._run_peers(counts) if size_name in SIZES_OF_PEERS else []
        return result

    def _run_peers(self, expected: np.ndarray) -> list[dict[str, Any]]:
        results = []
        for peer in self.peers:
            for level in self.levels:
                options = ["--opt-level", str(level), "--cache", str(self.compiled), "--loop", str(self.loop)]
                measured, counts = self._run(peer.command() + options, 1, **peer.environment)
                require_equal(counts, expected, f"{peer.name} -O{level} and gatewise")
                results.append({"peer": peer.name, "opt_level": level} | measured)
        return results

    def _run(self, command: list[str], n_threads: int, **variables: str) -> tuple[dict[str, Any], np.ndarray]:
        counts = self.work / "counts.npy"
        files = ["--rows", str(self.work / "rows.npy"), "--counts", str(counts)]
        result = run_pinned([*command, str(self.work / "net.npz"), *files], self.cores[:n_threads], **variables)
        return result, np.load(counts)


def require_equal(counts: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Exit unless the counts agree: a time of a wrong result says nothing."""
    if counts.shape != expected.shape or not np.array_equal(counts, expected):
        raise SystemExit(f"counts must be equal, got different ones from {what}")


def main() -> None:
    """Run, print the table and the verdicts, write the JSON."""
    args = parse_arguments()
    peers_folder = Path(os.environ.get("GATEWISE_PEERS", REPOSITORY / "build" / "peers")).absolute()
    wanted = args.peers if set(args.sizes) & set(SIZES_OF_PEERS) else []
    peers = install_peers(wanted, peers_folder, args.peer_python)
    n_rows = -(-args.rows // WORD_BITS) * WORD_BITS
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(Path(temporary), peers_folder, peers, args.levels)
        limits = machine.measure_limits(bench.work, bench.cores[0])
        print(table.header(limits))
        results = []
        for size_name in args.sizes:
            for kind in args.kinds:
                results.append(bench.run_net(size_name, kind, n_rows))
                print(table.net_lines(results[-1], limits), flush=True)
    verdicts = targets.judge(results)
    print(table.verdict_lines(verdicts))
    if args.json:
        report = {
            "machine": machine.describe() | {"threads": 1, "limits": limits},
            "nets": results,
            "targets": [asdict(verdict) | {"outcome": verdict.outcome} for verdict in verdicts],
        }
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
