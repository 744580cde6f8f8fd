"""`gatewise export`: a model as source code, or compiled, in a folder."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gatewise import export
from gatewise.circuit import Circuit
from gatewise.cli.options import add_json, load_model, show
from gatewise.export.comparisons import DTYPES
from gatewise.model import Model
from gatewise.store import load

EXAMPLES = """examples:
  gatewise export churn.gw --to c -o churn_c
  gatewise export churn.gw --to c --style table --dtype float32 --name churn -o churn_mcu
  gatewise export churn.gw --to lib -o churn_lib
  gatewise export churn.gw --to wasm --name churn -o churn_web
  gatewise export churn.gw --to cuda --dtype float32 -o churn_gpu
  gatewise export churn.gw --to wgsl --name churn -o churn_web
  gatewise export churn.gw --to verilog --fixed-point 16.4 --pipeline 6 -o churn_fpga
  gatewise export churn.gw --to aiger --head class -o churn_proof
  gatewise export churn.gw --to onnx -o churn_onnx
"""


HEAD_HELP = """for Verilog, AIGER and BLIF, what comes out: the bits of the circuit, the count of each group, or the
index of the class (default: bits; for Verilog, what the model needs)"""


@dataclass(frozen=True)
class Target:
    """What can be exported to: the function that does it, and the options that it takes."""

    summary: str
    make: Callable[..., export.Package]
    options: tuple[str, ...]
    takes_circuits: bool = True


def _to_onnx(source: Model | Circuit, **options: Any) -> export.Package:
    """Imports onnx when it is called: the other targets do without it."""
    package: export.Package = export.to_onnx(source, **options)
    return package


TARGETS = {
    "c": Target("C99 source", export.to_c, ("name", "style", "dtype")),
    "verilog": Target("Verilog-2001", export.to_verilog, ("name", "head", "fixed_point", "pipeline", "lut_inputs")),
    "wasm": Target("WebAssembly and JavaScript", export.to_wasm, ("name", "style", "dtype")),
    "cuda": Target("CUDA C++ source, for many rows", export.to_cuda, ("name", "dtype")),
    "wgsl": Target("WGSL and JavaScript, for GPUs of browsers", export.to_wgsl, ("name", "dtype")),
    "aiger": Target("AND gates for logic synthesis and provers", export.to_aiger, ("name", "head", "ascii")),
    "blif": Target("tables for logic synthesis", export.to_blif, ("name", "head")),
    "onnx": Target("a graph for ONNX runtimes", _to_onnx, ("name", "dtype")),
    "lib": Target("a shared library", export.to_lib, ("name", "style"), takes_circuits=False),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("model", help="file that holds a model or a circuit")
    listed = "; ".join(f"{name}, {target.summary}" for name, target in TARGETS.items())
    parser.add_argument("--to", required=True, choices=TARGETS, metavar="TARGET", help=listed)
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="folder to write: a new one, or that of an earlier export"
    )
    parser.add_argument("--name", help="how files, and names in the code, begin (default: model)")
    parser.add_argument(
        "--style",
        choices=("unrolled", "table"),
        help="straight code, which is the fastest, or tables, which are the smallest (default: unrolled)",
    )
    parser.add_argument(
        "--dtype", choices=DTYPES, help="type of the numbers in a row (default: float64; uint8 for a circuit)"
    )
    parser.add_argument("--head", choices=("bits", "counts", "class"), help=HEAD_HELP)
    parser.add_argument(
        "--fixed-point",
        type=_fixed_point,
        metavar="W.F",
        help="for Verilog, take columns instead of bits: numbers of W bits, F of them after the point",
    )
    parser.add_argument("--pipeline", type=int, metavar="N", help="for Verilog, a register every N levels of gates")
    parser.add_argument(
        "--lut-inputs", type=int, choices=(4, 6), help="for Verilog, inputs of the FPGA's lookup tables (default: 6)"
    )
    parser.add_argument(
        "--ascii", action="store_true", default=None, help="for AIGER, write the format that people can read"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Export a file."""
    target = TARGETS[args.to]
    options = _options(args, target)
    content = load(args.model) if target.takes_circuits else load_model(args.model, threads=1)
    package = target.make(content if isinstance(content, Model | Circuit) else content.expand(), **options)
    export.save_package(package, args.output)
    sizes = {name: len(data) for name, data in package.items()}
    report = {"target": args.to, "folder": args.output, "files": sizes}
    show(report, [f"{args.output}/{name}: {n:,} bytes" for name, n in sizes.items()], as_json=args.json)
    return 0


def _options(args: argparse.Namespace, target: Target) -> dict[str, Any]:
    """Options that were given; one that the target does not take is refused."""
    names = {name for each in TARGETS.values() for name in each.options}
    given = {name: value for name, value in vars(args).items() if name in names and value is not None}
    for name in sorted(given.keys() - set(target.options)):
        flag = name.replace("_", "-")
        raise ValueError(f"--{flag} must be left out for --to {args.to}, got {given[name]!r}")
    return given


def _fixed_point(text: str) -> tuple[int, int]:
    """Bits, and those below the point, from W.F."""
    width, _, fraction = text.partition(".")
    if not (width.isdecimal() and fraction.isdecimal()):
        raise argparse.ArgumentTypeError(f"must be two numbers with a point between, as 16.4, got {text!r:.40}")
    return int(width), int(fraction)
