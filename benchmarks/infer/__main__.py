"""Inference speed, side by side with difflogic's and torchlogix's compiled nets in one run.

    python -m benchmarks.infer --record      # benchmarks/results/infer.json: every net, every contender, the targets
    python -m benchmarks.infer --quick       # two small nets
    python -m benchmarks.infer --compile     # compile the peers' nets only, half an hour once; later runs spare it

For every net, all run on the same rows, one thread tied to one core, and must agree on every count: the run
ends otherwise. Times run from a bool array, or from packed rows, to counts. Peers and what they compile are
kept in build/peers (or $GATEWISE_PEERS).
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import nets, records
from benchmarks.infer import table, targets
from benchmarks.infer.limits import measure_limits
from benchmarks.peers.install import NotInstallableError, Peer, find_folder, install
from benchmarks.process import REPOSITORY, run_pinned, usable_cores
from gatewise import Circuit
from gatewise.run.reference import count_groups

WORD_BITS = 64
N_REFERENCE_ROWS = 64
SIZES_OF_PEERS = ("adult", "mnist-small", "cifar-small")
SIZES_OF_TWO_THREADS = ("mnist-small",)

OURS = (sys.executable, "-m", "benchmarks.infer.ours")
Counts = NDArray[np.int32]


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two small random nets, peers at -O1 only")
    parser.add_argument("--sizes", nargs="+", choices=list(nets.SIZES), default=list(nets.SIZES))
    parser.add_argument("--kinds", nargs="+", choices=nets.KINDS, default=list(nets.KINDS))
    parser.add_argument("--opt-levels", nargs="+", type=int, default=[1, 3], help="the peers' -O levels")
    parser.add_argument("--peers", nargs="*", choices=["difflogic", "torchlogix"], default=["difflogic", "torchlogix"])
    parser.add_argument("--peer-python", help="a Python of at least 3.12, for torchlogix")
    parser.add_argument("--rows", type=int, default=100_000, help="rounded up to whole 64-bit words")
    parser.add_argument("--compile", action="store_true", help="compile the peers' nets, measure nothing else")
    records.add_options(parser)
    args = parser.parse_args()
    if args.quick:
        args.sizes, args.kinds, args.opt_levels = ["adult", "mnist-small"], ["random"], [1]
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

    def __init__(self, work: Path, peers: list[Peer], opt_levels: list[int]) -> None:
        self.work = work
        self.compiled = find_folder() / "compiled"
        self.peers = peers
        self.opt_levels = opt_levels
        self.cores = usable_cores()
        self.loop = work / "kernel_loop.so"
        source = REPOSITORY / "benchmarks" / "peers" / "kernel_loop.c"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", self.loop, source], check=True)

    def compile_net(self, size_name: str, kind: str) -> None:
        """Have the peers compile a net, unless they have done so on an idle machine."""
        nets.make_net(nets.SIZES[size_name], kind).save(self.work / "net.npz")
        for peer in self.peers:
            for level in self.opt_levels:
                options = ["--opt-level", str(level), "--cache", str(self.compiled)]
                command = [*peer.command(), str(self.work / "net.npz"), *options]
                made = run_pinned(command, self.cores[:1], **peer.environment)
                print(f"{size_name} {kind}, {peer.name} -O{level}: {made['preparation_s']:.1f} s", flush=True)

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
        ours, counts = self._run([*OURS], 1)
        require_equal(counts[:N_REFERENCE_ROWS], expected, f"gatewise and the reference on {size_name} {kind}")
        result: dict[str, Any] = {
            "size": size_name,
            "kind": kind,
            "n_gates": net.n_gates,
            "n_rows": n_rows,
            "ours": ours,
        }
        if size_name in SIZES_OF_TWO_THREADS and len(self.cores) > 1:
            result["ours_two_threads"], again = self._run([*OURS, "--threads", "2"], 2)
            require_equal(again, counts, f"two threads and one on {size_name} {kind}")
        result["peers"] = self._run_peers(counts) if size_name in SIZES_OF_PEERS else []
        return result

    def _run_peers(self, expected: Counts) -> list[dict[str, Any]]:
        results = []
        for peer in self.peers:
            for level in self.opt_levels:
                options = ["--opt-level", str(level), "--cache", str(self.compiled), "--loop", str(self.loop)]
                measured, counts = self._run(peer.command() + options, 1, **peer.environment)
                require_equal(counts, expected, f"{peer.name} -O{level} and gatewise")
                results.append({"peer": peer.name, "opt_level": level} | measured)
        return results

    def _run(self, command: list[str], n_threads: int, **variables: str) -> tuple[dict[str, Any], Counts]:
        counts = self.work / "counts.npy"
        files = ["--rows", str(self.work / "rows.npy"), "--counts", str(counts)]
        result = run_pinned([*command, str(self.work / "net.npz"), *files], self.cores[:n_threads], **variables)
        return result, np.load(counts)


def require_equal(counts: Counts, expected: Counts, what: str) -> None:
    """Exit unless the counts agree: a time of a wrong result says nothing."""
    if counts.shape != expected.shape or not np.array_equal(counts, expected):
        raise SystemExit(f"counts must be equal, got different ones from {what}")


def main() -> None:
    """Run, print the table and the verdicts, write the record."""
    args = parse_arguments()
    run = records.start(recording=args.record, allow_dirty=args.allow_dirty)
    wanted = args.peers if set(args.sizes) & set(SIZES_OF_PEERS) else []
    peers = install_peers(wanted, find_folder(), args.peer_python)
    n_rows = -(-args.rows // WORD_BITS) * WORD_BITS
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(Path(temporary), peers, args.opt_levels)
        for size_name in SIZES_OF_PEERS if args.compile else ():
            for kind in args.kinds:
                bench.compile_net(size_name, kind)
        if args.compile:
            return
        limits = measure_limits(bench.work, bench.cores[0])
        print(table.header(limits))
        results = []
        for size_name in args.sizes:
            for kind in args.kinds:
                results.append(bench.run_net(size_name, kind, n_rows))
                print(table.net_lines(results[-1], limits), flush=True)
    verdicts = targets.judge(results)
    print(table.verdict_lines(verdicts))
    if args.record:
        judged = [asdict(verdict) | {"outcome": verdict.outcome} for verdict in verdicts]
        records.write("infer", run, {"limits": limits, "nets": results, "targets": judged})


if __name__ == "__main__":
    main()
