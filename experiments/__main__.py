"""Train, measure and record an experiment of the paper, or show the records.

    python -m experiments NAME [--recipe paper|ours] [--seeds N] [--epochs N] [--data DIR] [--runs DIR] [--train-only]
    python -m experiments table

A run that was stopped goes on when the same command is given again. With --train-only nothing is measured, so that
several runs can share the machine; the same command without it then measures and records, on an idle one.
"""

import argparse
import os
import sys
from pathlib import Path

import torch

from benchmarks.mnist import find_data
from experiments import records
from experiments.data import LOADERS
from experiments.plans import RECIPES, Plan
from experiments.settings import SETTINGS
from experiments.training import train_network

RUNS = Path("build/experiments")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=[*SETTINGS, "table"])
    parser.add_argument("--recipe", choices=list(RECIPES), default="ours")
    parser.add_argument("--seeds", type=int, default=1, help="networks to train, with seeds 0, 1, …")
    parser.add_argument("--epochs", type=int, help="in all stages together (default: the recipe's)")
    parser.add_argument("--data", type=Path, help="folder of the data sets (default: $GATEWISE_DATA)")
    parser.add_argument("--runs", type=Path, default=RUNS, help=f"folder of checkpoints (default: {RUNS})")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="for training (default: all cores)")
    parser.add_argument("--train-only", action="store_true", help="do not measure, do not record")
    args = parser.parse_args()
    try:
        run(args)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from the last checkpoint", file=sys.stderr)
        sys.exit(130)


def run(args: argparse.Namespace) -> None:
    """Train each seed; measure them all; append the record."""
    torch.set_num_threads(args.threads)
    setting = SETTINGS[args.name]
    data = LOADERS[setting.data](find_data(args.data))
    plan = RECIPES[args.recipe](setting, data)
    plan = plan if args.epochs is None else plan.scaled(args.epochs)
    seeds, models = [], []
    for seed in range(args.seeds):
        folder = args.runs / f"{args.name}-{args.recipe}-{_total(plan)}-{seed}"
        trained = train_network(setting, plan, data, seed, folder=folder, report=print_flushed)
        if args.train_only:
            continue
        seeds.append(records.measure_seed(trained, plan, data, seed))
        models.append(trained.model)
        print_flushed(f"seed {seed}: {seeds[-1]['accuracy']:.2f} %")
    if args.train_only:
        return
    accuracy = records.summarize([each["accuracy"] for each in seeds])
    record = {"name": args.name, "recipe": args.recipe, "threads": args.threads, "accuracy": accuracy, "seeds": seeds}
    records.append(record | {"time": records.time_model(models[0], data)})
    print_flushed(f"{args.name} {args.recipe}: {accuracy['mean']:.2f} ± {accuracy['std']:.2f} %")


def print_flushed(line: str) -> None:
    """Print at once, so that a log can be followed."""
    print(line, flush=True)


def _total(plan: Plan) -> int:
    return sum(stage.epochs for stage in plan.stages)


if __name__ == "__main__":
    main()
