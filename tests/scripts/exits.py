"""Runs `gatewise train` many times under load and counts the exits: `python exits.py --forks 2000 --processes 100`.

Threads that are alive when an interpreter ends can abort it, once in hundreds of runs. To make thousands of runs
affordable, most are forked from a process that has imported everything and trained nothing; each child trains with two
threads and ends as any interpreter does. The others are fresh processes. The exit code is 0 if all of theirs are.
"""

import argparse
import importlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

SIZES = ["--network", "--width", "60", "--depth", "2", "--max-iter", "4", "--batch-size", "20", "--threads", "2"]
MODULES = (
    "gatewise.cli.commands.train",
    "gatewise.cli.target",
    "gatewise.estimators",
    "torch._dynamo",
)  # what a run imports
N_ROWS = 2000  # several blocks for both threads
REPORT_EVERY = 100
LOAD = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"


def write_table(path: Path) -> None:
    """Two columns of numbers, one of strings, and a label."""
    rng = random.Random(0)
    lines = ["a,b,c,label"]
    for _ in range(N_ROWS):
        a, b = rng.random(), rng.random()
        lines.append(f"{a:.3f},{b:.3f},{rng.choice('xyz')},{'yes' if a > b else 'no'}")
    path.write_text("\n".join([*lines, ""]))


def train(folder: Path) -> int:
    """The exit code of a run; what it prints goes to a file that is there if it was not 0."""
    from gatewise.cli import main

    log = os.open(folder / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    return main(make_arguments(folder))


def make_arguments(folder: Path) -> list[str]:
    """Of `gatewise`."""
    return ["train", str(folder / "data.csv"), "--target", "label", "-o", str(folder / "model.gw"), *SIZES]


def run_forked(folder: Path) -> int:
    """The exit code of a child that trains, and ends by the normal end of an interpreter."""
    child = os.fork()
    if child == 0:
        sys.exit(train(folder))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_fresh(folder: Path) -> int:
    """The exit code of a new process."""
    command = [sys.executable, "-m", "gatewise", *make_arguments(folder)]
    with (folder / "output.txt").open("wb") as log:
        return subprocess.run(command, stdout=log, stderr=log).returncode


def count_exits(folder: Path, n_forks: int, n_processes: int) -> Counter[int]:
    """How often each exit code was seen; a run that left no model counts as 1."""
    exits: Counter[int] = Counter()
    for run in [run_forked] * n_forks + [run_fresh] * n_processes:
        (folder / "model.gw").unlink(missing_ok=True)
        code = run(folder)
        if code:
            print(f"{run.__name__} ended with {code}:", (folder / "output.txt").read_text(), flush=True)
        exits[code or int(not (folder / "model.gw").exists())] += 1
        if exits.total() % REPORT_EVERY == 0:
            print(f"{exits.total()} runs, exit codes: {dict(exits)}", flush=True)
    return exits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forks", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=100)
    args = parser.parse_args()
    for module in MODULES:
        importlib.import_module(module)
    # No `finally` and no TemporaryDirectory: the children pass through them, too.
    folder = Path(tempfile.mkdtemp())
    load = subprocess.Popen([sys.executable, "-c", LOAD])
    write_table(folder / "data.csv")
    start = time.perf_counter()
    exits = count_exits(folder, args.forks, args.processes)
    load.kill()
    load.wait()
    shutil.rmtree(folder)
    print(f"{exits.total()} runs in {time.perf_counter() - start:.0f} s, exit codes: {dict(exits)}")
    return int(exits.keys() != {0})


if __name__ == "__main__":
    sys.exit(main())
