"""`gatewise export`: a model as source code, or compiled, in a folder."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gatewise import export
from gatewise.cli.options import Commands, add_json, load_model, new_command, show
from gatewise.export.questions import DTYPES
from gatewise.model import load
from gatewise.seeded import SeededCircuit

EXAMPLES = """examples:
  gatewise export churn.gw --to c -o churn_c
  gatewise export churn.gw --to c --style table --dtype float32 --name churn -o churn_mcu
  gatewise export churn.gw --to lib -o churn_lib
  gatewise export churn.gw --to wasm --name churn -o churn_web
  gatewise export churn.gw --to cuda --dtype float32 -o churn_gpu
"""


@dataclass(frozen=True)
class Target:
    """What can be exported to: the function that does it, and the options that it takes."""

    summary: str
    make: Callable[..., export.Package]
    options: tuple[str, ...]
    takes_circuits: bool = True


TARGETS = {
    "c": Target("C99 source", export.to_c, ("name", "style", "dtype")),
    "verilog": Target("Verilog-2001", export.to_verilog, ("name",)),
    "wasm": Target("WebAssembly and JavaScript", export.to_wasm, ("name", "style", "dtype")),
    "cuda": Target("CUDA C++ source, for many rows", export.to_cuda, ("name", "dtype")),
    "lib": Target("a shared library", export.to_lib, ("name", "style"), takes_circuits=False),
}


def add_command(commands: Commands) -> None:
    """Add the command."""
    parser = new_command(commands, run, "export", summary="write a model as code of another language", text=EXAMPLES)
    parser.add_argument("model", help="file that holds a model or a circuit")
    listed = ", ".join(f"{name}: {target.summary}" for name, target in TARGETS.items())
    parser.add_argument("--to", required=True, choices=TARGETS, metavar="TARGET", help=listed)
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder to write; it must not exist yet")
    parser.add_argument("--name", help="what files and names in the code start with: model")
    parser.add_argument(
        "--style", choices=("unrolled", "table"), help="straight code, the fastest, or tables, the smallest: unrolled"
    )
    parser.add_argument("--dtype", choices=DTYPES, help="type of the numbers of a row: float64, for a circuit uint8")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Export a file."""
    target = TARGETS[args.to]
    options = _options(args, target)
    content = load(args.model) if target.takes_circuits else load_model(args.model, threads=1)
    package = target.make(content.expand() if isinstance(content, SeededCircuit) else content, **options)
    export.save_package(package, args.output)
    sizes = {name: len(data) for name, data in package.items()}
    report = {"target": args.to, "folder": args.output, "files": sizes}
    show(report, [f"{args.output}/{name}: {n:,} bytes" for name, n in sizes.items()], as_json=args.json)
    return 0


def _options(args: argparse.Namespace, target: Target) -> dict[str, Any]:
    """Options that were given; one that the target does not take is refused."""
    given = {name: getattr(args, name) for name in ("name", "style", "dtype") if getattr(args, name) is not None}
    for name, value in given.items():
        if name not in target.options:
            raise ValueError(f"--{name} must be left out for --to {args.to}, got {value!r}")
    return given
