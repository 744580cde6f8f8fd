"""`gatewise selfcheck`: whether this machine computes right, and how fast, in a report to send."""

import argparse
import importlib
import platform
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gatewise import __version__
from gatewise.cli.options import add_json, add_threads, show, usable_cores
from gatewise.machine import TARGETS, cpu_name
from gatewise.run.selfcheck import KNOWN_TARGETS, Finding, check_engine

WRONG = 1
"""The exit code if an answer is wrong."""

PACKAGES = ("numpy", "torch", "triton")
NEVER = "exported code: each export has a check of its own, see its README"
EXAMPLES = """examples:
  gatewise selfcheck
  gatewise selfcheck --threads 8
  gatewise selfcheck --json > report.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_threads(parser, None, "threads of the last engine that is checked (default: the cores)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Check what can be run here, and say what cannot."""
    engines, lacking = check_engines(args.threads or usable_cores())
    gpus, devices, reasons = check_torch()
    findings = [*engines, *devices]
    report = describe_machine() | {
        "gpus": gpus,
        "findings": [asdict(finding) for finding in findings],
        "not_run": [*lacking, *reasons, NEVER],
        "wrong": sum(bool(finding.wrong) for finding in findings),
    }
    show(report, describe_report(report), as_json=args.json)
    return WRONG if report["wrong"] else 0


def check_engines(threads: int) -> tuple[list[Finding], list[str]]:
    """Engines for all instruction sets of this machine, the best one with threads, too; and which are not run."""
    findings = [check_engine(target) for target in TARGETS]
    findings += [check_engine(TARGETS[0], threads)] if threads > 1 else []
    lacking = [f"engine, {target}: not on this machine" for target in KNOWN_TARGETS if target not in TARGETS]
    return findings, lacking


def check_torch() -> tuple[list[str], list[Finding], list[str]]:
    """The GPUs; what is found by training on the CPU and by kernels on GPUs; and why not on others."""
    try:
        checks = importlib.import_module("gatewise.nn.kernels.selfcheck")
    except (ImportError, OSError) as error:  # OSError: a library of CUDA that torch was built for
        return [], [], [f"training and GPUs: {error}"]
    devices, reasons = checks.list_devices()
    findings = [finding for device in ["cpu", *devices] for finding in checks.check_device(device)]
    return checks.describe_gpus(), findings, reasons


def describe_machine() -> dict[str, Any]:
    """What a report is about."""
    versions = {"gatewise": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {"cpu": cpu_name(), "cores": usable_cores(), "system": platform.platform(), "versions": versions}


def describe_report(report: dict[str, Any]) -> Iterator[str]:
    """The report in words."""
    yield ", ".join(f"{package} {number}" for package, number in report["versions"].items())
    yield f"{report['cpu']}, {report['cores']} cores, {report['system']}"
    yield from report["gpus"]
    for finding in report["findings"]:
        state, speed = ("WRONG", f": {finding['wrong']}") if finding["wrong"] else ("right", "")
        if finding["speed"]:
            speed = f": {finding['speed']:,.4g} {finding['unit']}"
        yield f"{state:<8}{finding['name']}{speed}"
    for reason in report["not_run"]:
        yield f"not run {reason}"
    n, wrong = len(report["findings"]), report["wrong"]
    yield f"{wrong} of {n} checks are wrong: please send this report." if wrong else f"All {n} checks are right."
