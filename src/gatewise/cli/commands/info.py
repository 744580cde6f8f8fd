"""`gatewise info`: what a `.gw` file holds."""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from gatewise.circuit import Circuit
from gatewise.cli.options import add_json, count, show
from gatewise.cli.pictures import draw_gates
from gatewise.gates import NAMES
from gatewise.heads import Classes
from gatewise.importance import share_votes
from gatewise.model import Model
from gatewise.store import load
from gatewise.wiring import CompactCircuit, SeededCircuit

MAX_GATES, MAX_COLUMNS = 200_000, 2_000
"""Of larger models it takes too long to find what each output depends on."""

MAX_FIRST, MAX_LEVELS = 6, 16
EXAMPLES = """examples:
  gatewise info churn.gw
  gatewise info churn.gw --bits
  gatewise info churn.gw --json | jq .gates
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", help="file that holds a model or a circuit")
    parser.add_argument("--bits", action="store_true", help="list the questions about a row that the bits answer")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Describe a file."""
    content = load(args.model)
    if args.bits and not isinstance(content, Model):
        raise ValueError(f"--bits must be left out for a {type(content).__name__}, whose inputs have no names")
    report = describe_model(content) if isinstance(content, Model) else describe_circuit(content)
    report["bytes"] = Path(args.model).stat().st_size
    if args.bits and isinstance(content, Model):
        report["questions"] = content.describe_bits()
    show(report, describe_report(report), as_json=args.json)
    return 0


def describe_model(model: Model) -> dict[str, Any]:
    """Sizes, columns and classes of a model."""
    sizes = model.info()
    head, classes = sizes.pop("head"), sizes.pop("classes")
    task = "classification" if isinstance(model.head, Classes) else "regression"
    columns = [
        {"name": column.name, "kind": type(column).__name__.lower(), "bits": column.n_bits}
        for column in model.encoder.columns
    ]
    kinds = Counter(model.circuit.gate.tolist())
    gates = {NAMES[gate]: n for gate, n in sorted(kinds.items())}
    votes = {}
    if model.circuit.n_gates <= MAX_GATES and sizes["columns"] <= MAX_COLUMNS:
        shares = share_votes(model).tolist()
        votes = {
            "votes": {name: round(share, 4) for name, share in zip(model.encoder.table_names, shares, strict=True)}
        }
    levels = {"gates_of_levels": model.circuit.count_gates().tolist()}
    names = {"columns": columns, "classes": classes, "gate_kinds": gates}
    return {"kind": "model", "task": task, "head": head} | sizes | names | votes | levels


def describe_circuit(circuit: Circuit | CompactCircuit) -> dict[str, Any]:
    """Sizes of a circuit."""
    whole = circuit if isinstance(circuit, Circuit) else circuit.expand()
    compact = "seeded circuit" if isinstance(circuit, SeededCircuit) else "convolutional circuit"
    return {
        "kind": "circuit" if whole is circuit else compact,
        "inputs": whole.n_inputs,
        "gates": whole.n_gates,
        "levels": whole.n_levels,
        "groups": whole.n_groups,
        "outputs": whole.n_outputs,
    }


def describe_report(report: dict[str, Any]) -> list[str]:
    """The report in words."""
    gates, levels, outputs = (count(report[f"{noun}s"], noun) for noun in ("gate", "level", "output"))
    sizes = f"{gates} in {levels}, {outputs}"
    if "columns" not in report:
        more = f"{count(report['groups'], 'group')}, {count(report['inputs'], 'input')}, {report['bytes']:,} bytes"
        return [f"{report['kind']}: {sizes} in {more}"]
    lines = [f"model for {report['task']}: {sizes}, {report['bytes']:,} bytes"]
    if report["classes"] is not None:
        lines.append(f"classes: {', '.join(map(str, report['classes'])):.200}")
    n_used = sum(column["bits"] > 0 for column in report["columns"])
    lines.append(f"columns: {len(report['columns'])}, of which {n_used} are read, as {count(report['bits'], 'bit')}")
    lines += [f"  {column['name']:<24} {column['kind']:<12} bits: {column['bits']}" for column in report["columns"]]
    lines.append("gates: " + ", ".join(f"{n:,} {name}" for name, n in report["gate_kinds"].items()))
    if any(report.get("votes", {}).values()):
        first = sorted(report["votes"].items(), key=lambda item: -item[1])[:MAX_FIRST]
        shares = ", ".join(f"{name:.40} {share:.0%}" for name, share in first if share)
        lines.append(f"columns by the share of outputs that depend on them: {shares}")
    if 0 < len(report["gates_of_levels"]) <= MAX_LEVELS:
        picture = draw_gates(np.array(report["gates_of_levels"]))
        lines += [f"  {line}" for line in picture.replace("layer", "level").splitlines()]
    if "questions" in report:
        lines += ["questions:", *(f"  {question}" for question in report["questions"])]
    return lines
