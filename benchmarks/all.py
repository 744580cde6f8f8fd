"""Make all records, one after the other, and go on where an interrupted run stopped.

    python -m benchmarks.all --list                      # commands, minutes, and which records are up to date
    python -m benchmarks.all [--only infer train]

Records that were made of the sources as they are now are left alone. Needs an idle machine, committed sources, the data
in $GATEWISE_DATA, and what `find_missing` asks for. Logs are in build/records. Minutes are those of two cores, with the
peers installed and their nets compiled before (`python -m benchmarks.infer --compile`).
"""

import argparse
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import records
from benchmarks.process import REPOSITORY

LOGS = REPOSITORY / "build" / "records"
MODEL = Path("build/experiments/mnist-small-ours-20-0/model.gw")
MODULES = ("torch", "sklearn", "pandas", "lightgbm", "treelite", "tl2cgen", "emlearn", "pyosys", "ziglang", "pysat")
TOOLS = ("gcc", "g++", "node", "iverilog", "arm-none-eabi-gcc")


@dataclass(frozen=True)
class Step:
    """A command that makes a record, or the model that others measure."""

    name: str
    words: str
    minutes: float

    def is_done(self) -> bool:
        """Whether what it makes is there, made of the sources as they are now."""
        if self.name == "model":
            return (REPOSITORY / MODEL).exists()
        path = records.RESULTS / f"{self.name}.json"
        return path.exists() and records.is_current(records.read(self.name))


STEPS = (
    Step("infer", "benchmarks.infer --record", 10),
    Step("unrolled", "benchmarks.infer.unrolled --record", 1),
    Step("train", "benchmarks.train --record", 16),
    Step("bits", "benchmarks.train.bits --record", 12),
    Step("convolution", "benchmarks.train.convolution --record", 8),
    Step("loop", "benchmarks.train.loop --record", 2),
    Step("locality", "benchmarks.locality --record", 4),
    Step("model", "experiments mnist-small --epochs 20 --train-only", 3),
    Step("export_c", f"benchmarks.export.c --model {MODEL} --record", 3),
    Step("wasm", f"benchmarks.export.wasm --model {MODEL} --record", 1),
    Step("tabular", "benchmarks.tabular --record", 11),
    Step("synthesis", "benchmarks.export.synthesis --record", 6),
    Step("locality_accuracy", "benchmarks.locality.accuracy --record", 2),
    Step("verify", "benchmarks.verify --record", 10),
    Step("report", "benchmarks.report --record", 2),
    Step("curves", "benchmarks.train.curves --record", 13),
)


def find_missing() -> Iterator[str]:
    """What the benchmarks need and this machine lacks, with how to get it."""
    for name in MODULES:
        if importlib.util.find_spec(name) is None:
            yield f"package {name}: pip install -c constraints.txt '.[bench]'"
    for tool in TOOLS:
        if shutil.which(tool) is None:
            yield f"program {tool}: see .ci/run"
    if "GATEWISE_DATA" not in os.environ:
        yield "data: set GATEWISE_DATA to the folder of the data sets"
    if changed := records.changed_sources():
        yield f"a clean commit: {', '.join(changed)} differ"


def run_step(step: Step) -> bool:
    """Run a step's command, its output in a log; whether it succeeded."""
    LOGS.mkdir(parents=True, exist_ok=True)
    with open(LOGS / f"{step.name}.log", "w") as log:
        command = [sys.executable, "-m", *shlex.split(step.words)]
        done = subprocess.run(command, cwd=REPOSITORY, stdout=log, stderr=subprocess.STDOUT)
    return done.returncode == 0


def main() -> None:
    """Run what is not done, and say how long the rest will take."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="say what would be run")
    parser.add_argument("--only", nargs="+", choices=[step.name for step in STEPS], help="some of the steps")
    args = parser.parse_args()
    steps = [step for step in STEPS if not args.only or step.name in args.only]
    open_steps = [step for step in steps if not step.is_done()]
    for step in steps if args.list else ():
        state = "to do" if step in open_steps else "up to date"
        print(f"{state:<12}{step.minutes:>4g} min  python -m {step.words}")
    print(f"{len(open_steps)} of {len(steps)} steps to do, about {sum(step.minutes for step in open_steps):g} minutes")
    if args.list:
        return
    if missing := list(find_missing()):
        raise SystemExit("benchmarks must have all they need, missing:\n  " + "\n  ".join(missing))
    failed = []
    for i, step in enumerate(open_steps):
        left = sum(each.minutes for each in open_steps[i:])
        print(f"{time.strftime('%H:%M')} {step.name}, about {step.minutes:g} of {left:g} minutes left", flush=True)
        start = time.monotonic()
        if not run_step(step):
            failed.append(step.name)
        outcome = f"failed, see {LOGS / step.name}.log" if step.name in failed else "done"
        print(
            f"{time.strftime('%H:%M')} {step.name} {outcome} after {(time.monotonic() - start) / 60:.1f} min",
            flush=True,
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
