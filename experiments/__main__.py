"""Train, measure and record an experiment of the paper, or draw the records.

    python -m experiments NAME [--recipe paper|ours|baselines|giant] [--seeds N] [--epochs N] [--data DIR] [--runs DIR]
    python -m experiments frontier|lut|convolution [--points NAME …] [--seeds N] [--epochs N] [--data DIR] [--runs DIR]
    python -m experiments study-depth|study-operators|study-precision [--seeds N] [--epochs N] [--data DIR]
    python -m experiments study-learned|study-lut|study-convolution [--points NAME …] [--vary CHOICE …] [--seeds N]
                          [--epochs N] [--data DIR]
    python -m experiments study-fixed [--vary CHOICE …] [--seeds N] [--epochs N] [--data DIR]
    python -m experiments splits [--seeds N] [--data DIR]
    python -m experiments figures

A network whose training was stopped goes on when the same command is given again; studies and networks that are the
best of many start anew. Each seed's model is saved beside its checkpoints, as model.gw. With --train-only nothing is
measured, so that several runs can share the machine; the same command without it then measures and records, on an idle
one.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from benchmarks.data.mnist import find_data
from benchmarks.records import start
from experiments import baselines, measuring
from experiments.data import LOADERS, Dataset
from experiments.giants import measure_giant
from experiments.plans import CIFAR_LARGE, RECIPES, Plan, paper
from experiments.points import lut
from experiments.points.convolution import CONVOLUTIONS, ConvolutionPoint
from experiments.points.frontier import POINTS, Point, vary
from experiments.report import records
from experiments.report.figures import draw_figures
from experiments.settings import SETTINGS
from experiments.splits import run_splits
from experiments.studies import EPOCHS, STUDIES, run_case
from experiments.training import train_network, validate

RUNS = Path("build/experiments")
FIGURES = Path(__file__).parents[1] / "docs" / "figures"
FAMILIES: dict[str, Mapping[str, Point | ConvolutionPoint]] = {  # points of each command
    "frontier": POINTS,
    "study-learned": POINTS,
    "lut": lut.POINTS,
    "study-lut": lut.POINTS,
    "convolution": CONVOLUTIONS,
    "study-convolution": CONVOLUTIONS,
}
VARIED = {
    "study-learned": list(POINTS["mnist-8k"].list_changes()),
    "study-lut": list(lut.POINTS["mnist-lut-500"].list_changes()),
    "study-convolution": list(CONVOLUTIONS["mnist-tree-s"].list_changes()),
    "study-fixed": list(CIFAR_LARGE.list_changes()),
}


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=[*SETTINGS, *COMMANDS])
    parser.add_argument("--recipe", choices=list(ACTIONS), default="ours")
    parser.add_argument("--points", nargs="+", metavar="NAME", help="of the command (default: all that it has)")
    parser.add_argument("--vary", nargs="+", metavar="CHOICE", help="of the study, or CHOICE=VALUE (default: all)")
    parser.add_argument("--seeds", type=int, default=1, help="networks to train, with seeds 0, 1, …")
    parser.add_argument("--epochs", type=int, help="in all stages together (default: the recipe's)")
    parser.add_argument("--data", type=Path, help="folder of the data sets (default: $GATEWISE_DATA)")
    parser.add_argument("--runs", type=Path, default=RUNS, help=f"folder of checkpoints (default: {RUNS})")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="for training (default: all cores)")
    parser.add_argument("--train-only", action="store_true", help="do not measure, do not record")
    parser.add_argument("--allow-dirty", action="store_true", help="record uncommitted sources, and mark the record")
    args = parser.parse_args()
    if min(args.seeds, args.threads, args.epochs or 1) < 1:
        parser.error("--seeds, --epochs and --threads must be at least 1")
    names = args.vary and [choice.partition("=")[0] for choice in args.vary]
    known = choose(parser, "--vary", args.name, names, VARIED.get(args.name, []))
    args.vary = args.vary or known
    args.points = choose(parser, "--points", args.name, args.points, list(FAMILIES.get(args.name, {})))
    is_recorded = not (args.train_only or args.name == "figures")
    args.run = start(recording=is_recorded, allow_dirty=args.allow_dirty) if is_recorded else {}
    torch.set_num_threads(args.threads)
    try:
        action = COMMANDS.get(args.name) or ACTIONS[args.recipe]
        action(args)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from the last checkpoint, if there is one", file=sys.stderr)
        sys.exit(130)


def choose(
    parser: argparse.ArgumentParser, option: str, command: str, given: list[str] | None, known: list[str]
) -> list[str]:
    """What an option names, by default all that a command knows; ends the program for anything else."""
    if not set(given or []) <= set(known):
        parser.error(f"{option} must name some of {', '.join(known) or 'none'} for {command}, got {given}")
    return known if given is None else given


def run_network(args: argparse.Namespace) -> None:
    """Train and measure a network of the paper."""
    setting = SETTINGS[args.name]
    data = LOADERS[setting.data](find_data(args.data))
    plan = RECIPES[args.recipe](setting, data)
    train_seeds(args, args.name, args.recipe, plan.widths or setting.widths, plan, data)


def run_points(args: argparse.Namespace) -> None:
    """Train, measure and record points: of the frontier, of networks of tables or of convolutions."""
    for name in args.points:
        point = FAMILIES[args.name][name]
        data = LOADERS[point.data](find_data(args.data))
        train_seeds(args, name, args.name, point.widths, point.plan(data), data)


def train_seeds(
    args: argparse.Namespace, name: str, recipe: str, widths: Sequence[int], plan: Plan, data: Dataset
) -> None:
    """Train each seed of one network; measure them all; append the record."""
    plan = plan if args.epochs is None else plan.scaled(args.epochs)
    seeds, models = [], []
    for seed in range(args.seeds):
        folder = args.runs / f"{name}-{recipe}-{plan.epochs}-{seed}"
        trained = train_network(widths, plan, data, seed, folder=folder, report=print_flushed)
        folder.mkdir(parents=True, exist_ok=True)
        trained.model.save(folder / "model.gw")
        if not args.train_only:
            seeds.append(measuring.measure_seed(trained, plan, data, seed))
            models.append(trained.model)
            print_flushed(f"seed {seed}: {seeds[-1]['accuracy']:.2f} %")
    if args.train_only:
        return
    accuracy = measuring.summarize([each["accuracy"] for each in seeds])
    found = {"name": name, "recipe": recipe, "threads": args.threads, "accuracy": accuracy, "seeds": seeds}
    record(args, found | {"time": measuring.time_model(models[0], data)})
    print_flushed(f"{name} {recipe}: {accuracy['mean']:.2f} ± {accuracy['std']:.2f} %")


def record_baselines(args: argparse.Namespace) -> None:
    """Train the paper's baselines, and append their record."""
    setting = SETTINGS[args.name]
    data = LOADERS[setting.data](find_data(args.data))
    epochs = args.epochs or baselines.EPOCHS
    found = baselines.run_baselines(setting, paper(setting, data), data, seeds=args.seeds, epochs=epochs)
    record(args, {"name": args.name, "recipe": args.recipe, "epochs": epochs, "baselines": found})


def record_giant(args: argparse.Namespace) -> None:
    """Build, simplify, save, load and run the network with random gates, and append the record."""
    record(args, {"name": args.name, "recipe": args.recipe} | measure_giant(SETTINGS[args.name]))


def record_splits(args: argparse.Namespace) -> None:
    """Train all models of Breast Cancer on as many random splits as there are seeds, and append their record."""
    models = run_splits(find_data(args.data), range(args.seeds), report=print_flushed)
    record(args, {"name": "breast-cancer", "recipe": "splits", "models": models})


def record_study(args: argparse.Namespace) -> None:
    """Train all networks of a study, and append one record."""
    study = args.name.removeprefix("study-")
    data = LOADERS["mnist"](find_data(args.data))
    cases = []
    for case in STUDIES[study]():
        for seed in range(args.seeds):
            cases.append(run_case(case, data, seed=seed, epochs=args.epochs or EPOCHS[study]))
            print_flushed(f"{case.label} {case.widths} seed {seed}: {cases[-1]['accuracy']:.2f} %")
    record(args, {"name": "mnist", "recipe": f"study {study}", "threads": args.threads, "cases": cases})


def record_learned(args: argparse.Namespace) -> None:
    """Vary the choices of the points, one at a time, and append a record of each point."""
    for name in args.points:
        point, cases = FAMILIES[args.name][name], []
        data = LOADERS[point.data](find_data(args.data))
        for label, varied in vary(point, args.vary):
            for seed in range(args.seeds):
                epochs = args.epochs or point.epochs
                cases.append(validate(label, varied.widths, varied.plan(data), data, seed=seed, epochs=epochs))
                print_flushed(f"{name} {label} seed {seed}: {cases[-1]['accuracy']:.2f} %")
        record(args, {"name": name, "recipe": args.name.replace("-", " "), "threads": args.threads, "cases": cases})


def record_fixed(args: argparse.Namespace) -> None:
    """Vary the choices of fixed wiring on bits, on the small network of CIFAR-10, and append one record."""
    setting, cases = SETTINGS["cifar-small"], []
    data = LOADERS[setting.data](find_data(args.data))
    for label, varied in vary(CIFAR_LARGE, args.vary):
        for seed in range(args.seeds):
            plan, epochs = varied(setting, data), args.epochs or EPOCHS["fixed"]
            cases.append(validate(label, setting.widths, plan, data, seed=seed, epochs=epochs))
            print_flushed(f"{label} seed {seed}: {cases[-1]['accuracy']:.2f} %")
    record(args, {"name": setting.name, "recipe": "study fixed", "threads": args.threads, "cases": cases})


def record(args: argparse.Namespace, found: records.Record) -> None:
    """Append what was found, with the run that found it."""
    records.append(found | args.run)


def write_figures(args: argparse.Namespace) -> None:
    """Draw the latest records."""
    for path in draw_figures(records.latest(), FIGURES):
        print_flushed(str(path.relative_to(Path.cwd())))


COMMANDS = {
    **{f"study-{name}": record_study for name in STUDIES},
    "study-learned": record_learned,
    "study-lut": record_learned,
    "study-convolution": record_learned,
    "study-fixed": record_fixed,
    "frontier": run_points,
    "lut": run_points,
    "convolution": run_points,
    "splits": record_splits,
    "figures": write_figures,
}
ACTIONS = {**dict.fromkeys(RECIPES, run_network), "baselines": record_baselines, "giant": record_giant}


def print_flushed(line: str) -> None:
    """Print at once, so that a log can be followed."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
