"""Records: what a benchmark or an experiment found, with all that is needed to make it again.

In: findings, as JSON can hold them. Out: a file of benchmarks/results, which also says by which command, on which
machine, when, and at which commit. A record is made at a clean commit: nothing but records, pages and tests may differ
from it. `--allow-dirty` makes one anyway and lists in "changed" what differs; tests/project/test_records.py refuses it
then.
"""

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from benchmarks.peers.install import pinned_version
from benchmarks.process import REPOSITORY
from benchmarks.timer import MAX_BUSY, measure_busy
from gatewise.machine import cpu_name
from gatewise.run.timing import n_cores

RESULTS = REPOSITORY / "benchmarks" / "results"
SOURCE = [".", *(f":!{path}" for path in ("benchmarks/results", "experiments/results.jsonl", "docs", "tests", "*.md"))]
PACKAGES = ("numpy", "torch", "scikit-learn", "lightgbm", "treelite", "tl2cgen", "emlearn")
PEERS = ("difflogic", "torchlogix")
PLACES = ("--data", "--runs", "--peer-python")  # options that say where something lies on one machine

Record = dict[str, Any]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say whether to write a record."""
    parser.add_argument("--record", action="store_true", help="write the findings to benchmarks/results")
    parser.add_argument("--allow-dirty", action="store_true", help="record uncommitted sources, and mark the record")


def start(*, recording: bool, allow_dirty: bool = False) -> Record:
    """Describe the run that begins: command, commit, date, machine, and how busy others keep it.

    Exits if a record is to be made of sources that are not committed.
    """
    changed = changed_sources()
    if recording and changed and not allow_dirty:
        raise SystemExit(
            f"sources must be committed before they are measured, got changes in {', '.join(changed)}; "
            "commit them, or mark the record by --allow-dirty"
        )
    busy = measure_busy()
    if busy > MAX_BUSY:
        print(f"warning: other processes take {busy:.0%} of the cores' time; times will be too long", file=sys.stderr)
    return {
        "command": describe_command(sys.orig_argv),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD").strip(),
        "changed": changed,
        "idle": {"load_average": os.getloadavg()[0], "busy": busy},
        "machine": describe_machine(),
    }


def write(name: str, run: Record, findings: Record) -> None:
    """Write what a run found as benchmarks/results/NAME.json."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(run | findings, indent=1) + "\n")


def read(name: str) -> Record:
    """The record of that name."""
    record: Record = json.loads((RESULTS / f"{name}.json").read_text())
    return record


def is_current(record: Record) -> bool:
    """Whether a record was made of the sources as they are now."""
    if record.get("changed") != []:
        return False
    same = ["git", "-C", str(REPOSITORY), "diff", "--quiet", record["commit"], "--", *SOURCE]
    return subprocess.run(same, capture_output=True).returncode == 0


def describe_machine() -> Record:
    """Processor, cores, system, compiler, and the versions of what was compared."""
    return {
        "cpu": cpu_name(),
        "n_cores": n_cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "compiler": _run("g++", "--version").splitlines()[0],
        "versions": {"python": platform.python_version()} | _installed_versions(),
    }


def describe_command(words: list[str]) -> str:
    """The command line, but for the interpreter's place and for where data lie on this machine."""
    kept, skip = ["python"], False
    for word in words[words.index("-m") if "-m" in words else 1 :]:
        if not skip and word not in (*PLACES, "--allow-dirty"):
            kept.append(word)
        skip = word in PLACES
    return shlex.join(kept)


def changed_sources() -> list[str]:
    """Files that differ from the commit, or are not part of it; records, pages and tests do not count."""
    return [line[3:] for line in _git("status", "--porcelain", "--", *SOURCE).splitlines()]


def _installed_versions() -> dict[str, str]:
    found = {name: pinned_version(name) for name in PEERS}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _git(*arguments: str) -> str:
    return _run("git", "-C", str(REPOSITORY), *arguments)


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
