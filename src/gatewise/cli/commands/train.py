"""`gatewise train`: a table in, a model out."""

import argparse
import math
import sys
import time
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from gatewise.cli.commands.evaluate import describe_score, evaluate_blocks, evaluate_file
from gatewise.cli.options import Dialect, add_json, add_reading, add_threads, count, show, split_names
from gatewise.model import Model
from gatewise.store.files import check_replaceable

if TYPE_CHECKING:
    from gatewise.cli.target import Problem

PARAMETERS = ("depth", "max_bits", "max_iter", "learning_rate", "class_weight", "categorical")
OF_NETWORKS = ("width", "batch_size")
INTERRUPTED = 130
EXAMPLES = """examples:
  gatewise train customers.csv --target churn -o churn.gw
  gatewise train houses.parquet --target price -o price.gw --test 0.2 --drop id
  gatewise train adult.csv --target income -o income.gw --test adult_test.csv --class-weight balanced
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "data", help="CSV file whose first line names the columns (also .gz, .bz2, .zst), or Parquet file"
    )
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the column to predict")
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="where to save the model; such files end in .gw"
    )
    task = parser.add_mutually_exclusive_group()
    task.add_argument(
        "--classification", dest="task", action="store_const", const="classification", help="predict classes"
    )
    task.add_argument(
        "--regression", dest="task", action="store_const", const="regression",
        help="predict values. Without either option the target decides: strings, bools, and up to 20 different whole "
        "numbers are classes",
    )  # fmt: skip
    parser.add_argument(
        "--test", metavar="FILE|SHARE", help="file to test the model on, or share of the rows to set aside for testing"
    )
    parser.add_argument("--drop", type=split_names, default=[], metavar="A,B", help="columns to ignore, such as ids")
    parser.add_argument(
        "--categorical", type=split_names, metavar="A,B", help="columns of numbers that stand for categories"
    )
    parser.add_argument("--max-bits", type=int, metavar="N", help="largest number of bits per row (default: 4096)")
    parser.add_argument("--max-iter", type=int, metavar="N", help="most terms (default: 1000), or epochs")
    parser.add_argument(
        "--depth", type=int, metavar="N",
        help="bits that a term reads (default: 3, or 6 if rows set aside ask for them), or layers",
    )  # fmt: skip
    parser.add_argument(
        "--learning-rate", type=float, metavar="X",
        help="share of a step that a term takes (default: 0.2), or highest learning rate of Adam (default: 0.1)",
    )  # fmt: skip
    network = parser.add_argument_group(
        "networks", "By default they and their training are as large as the numbers of rows, bits and classes ask for."
    )
    network.add_argument(
        "--network", action="store_true", help="train a network of gates by gradient descent, instead of growing terms"
    )
    network.add_argument("--width", type=int, metavar="N", help="gates per layer")
    network.add_argument("--batch-size", type=int, metavar="N", help="rows per step")
    parser.add_argument(
        "--class-weight", choices=["balanced"], help="give rare classes as much weight as frequent ones"
    )
    parser.add_argument(
        "--random-state", type=int, default=0, metavar="SEED", help="equal seeds give equal models (default: 0)"
    )
    add_threads(parser, None, "threads to train with (default: all cores)")
    add_reading(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Train and save a model."""
    from gatewise.cli.tables.reading import check_output

    share = parse_share(args.test)
    test_file = args.test if share is None else None
    check_output(args.output, [args.data, test_file])
    check_replaceable(args.output)
    estimators = import_estimators(args)
    problem = read_problem(args)
    if test_file:
        check_test_file(test_file, [*problem.features.column_names, args.target], args)
    known, test = problem.split(share or 0.0, args.random_state)
    if not args.json:
        print(*describe_problem(problem, args.data), sep="\n", flush=True)

    start = time.perf_counter()
    estimator = make_estimator(estimators, problem.is_classification, args)
    estimator.fit(known.features, known.target)
    seconds = time.perf_counter() - start
    estimator.model_.save(args.output)
    if test_file:
        scores = score_file(estimator.model_, test_file, args)
    elif share:
        scores = score_rows(estimator.model_, test, "rows that were set aside")
    else:
        scores = score_training(estimator, known)
    report = make_report(estimator, problem, scores) | {"seconds": round(seconds, 3), "output": args.output}
    show(report, describe_report(report), as_json=args.json)
    return INTERRUPTED if estimator.interrupted_ else 0


def parse_share(test: str | None) -> float | None:
    """The share of rows that --test names; 0 without --test, None if it names a file."""
    if test is None:
        return 0.0
    try:
        share = float(test)
    except ValueError:
        return None
    if not 0 < share < 1:
        raise ValueError(f"--test must be a file, or a share between 0 and 1, got {test}")
    return share


def import_estimators(args: argparse.Namespace) -> ModuleType:
    """Import what is needed before anything else is done, because it may be missing, and set torch's threads."""
    from gatewise import estimators

    if args.threads is not None and args.threads < 1:
        raise ValueError(f"--threads must be at least 1, got {args.threads}")
    if args.network:
        estimators.NetworkClassifier  # noqa: B018 (imports torch)
        import torch

        torch.set_num_threads(args.threads or torch.get_num_threads())
    return estimators


def read_problem(args: argparse.Namespace) -> "Problem":
    """The table in the file, as features and target."""
    from gatewise.cli.tables.reading import check_columns, open_table
    from gatewise.cli.target import pose_problem

    with open_table(args.data, Dialect.given(args)) as file:
        check_columns(file, [args.target, *args.drop, *(args.categorical or ())])
        if args.target in args.drop:
            raise ValueError(f"--drop must not name the target, got {args.target!r}")
        names = [name for name in file.names if name not in args.drop]
        check_columns(file, names)
        table = file.read(names)
    return pose_problem(table, args.target, args.data, forced=args.task)


def check_test_file(path: str, names: Sequence[str], args: argparse.Namespace) -> None:
    """Raise ValueError or OSError now if the file to test with is not like the data."""
    from gatewise.cli.tables.reading import check_columns, open_table

    if path == "-":
        raise ValueError("--test must be a file, or a share between 0 and 1, got the standard input")
    with open_table(path, Dialect.given(args)) as file:
        check_columns(file, names)


def make_estimator(estimators: ModuleType, is_classification: bool, args: argparse.Namespace) -> Any:
    """An estimator with the parameters that were given."""
    if args.class_weight and not is_classification:
        raise ValueError("--class-weight must be left out for a regression, which has no classes")
    for name in OF_NETWORKS:
        if getattr(args, name) is not None and not args.network:
            raise ValueError(f"--{name.replace('_', '-')} must come with --network, which it is a size of")
    names = PARAMETERS + OF_NETWORKS if args.network else PARAMETERS
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    given["random_state"] = args.random_state
    kind = "Classifier" if is_classification else "Regressor"
    if args.network:
        return getattr(estimators, f"Network{kind}")(**given, progress=sys.stderr.isatty())
    return getattr(estimators, f"Logic{kind}")(**given, n_jobs=args.threads)


def score_file(model: Model, path: str, args: argparse.Namespace) -> dict[str, Any]:
    """Scores on another file."""
    from gatewise.cli.tables.reading import open_table

    with open_table(path, Dialect.given(args)) as file:
        scores = evaluate_file(model, file, args.target)
    return scores | {"scored_on": f"{count(scores['rows'], 'row')} of {path}"}


def score_rows(model: Model, problem: "Problem", which: str) -> dict[str, Any]:
    """Scores on rows in memory."""
    scores = evaluate_blocks(model, [problem.to_table()], problem.features.column_names, problem.name)
    return scores | {"scored_on": f"{scores['rows']:,} {which}"}


def score_training(estimator: Any, problem: "Problem") -> dict[str, Any]:
    """The score by which the best circuit was selected; without a selection, the score on the training rows."""
    history = getattr(estimator, "history_", None)
    if not estimator.validated_ or not history:
        return score_rows(estimator.model_, problem, "rows that it was trained on; --test tells how it does on others")
    which = "the rows by which the best circuit was selected; --test tells how it does on others"
    if problem.is_classification:
        return {"accuracy": max(history["score"]), "scored_on": which}
    mean_square = min(history["score"]) * estimator.model_.head.scale[0] ** 2  # the history's unit is the head's scale
    r2 = 1 - mean_square / float(np.var(problem.target))
    return {"r2": r2, "rmse": math.sqrt(mean_square), "scored_on": which}


def make_report(estimator: Any, problem: "Problem", scores: dict[str, Any]) -> dict[str, Any]:
    """What was learned, from what, and how well."""
    sizes = estimator.model_.info()
    is_network = hasattr(estimator, "history_")
    return {
        "task": "classification" if problem.is_classification else "regression",
        "reason": problem.reason,
        "rows": len(problem.target),
        "rows_without_target": problem.n_left_out,
        "epochs" if is_network else "terms": estimator.n_iter_,
        "interrupted": estimator.interrupted_,
        **{name: sizes[name] for name in ("gates", "levels", "columns", "bits", "bytes", "classes")},
        "scores": scores,
    }


def describe_problem(problem: "Problem", source: str) -> list[str]:
    """What was read and decided, in words."""
    from gatewise.cli.target import describe_features

    lines = [f"{source}: {count(len(problem.target), 'row')}, {describe_features(problem.features)}"]
    if problem.n_left_out:
        lines.append(f"left out: {count(problem.n_left_out, 'row')} without a target")
    return [*lines, f"{'classification' if problem.is_classification else 'regression'}: {problem.reason}"]


def describe_report(report: dict[str, Any]) -> list[str]:
    """What was learned, in words."""
    unit = "epoch" if "epochs" in report else "term"
    done = f"{count(report[f'{unit}s'], unit)} in {report['seconds']:.1f} s"
    if report["interrupted"]:
        done += ", interrupted: the best circuit so far is saved"
    gates, bits, columns = (count(report[f"{noun}s"], noun) for noun in ("gate", "bit", "column"))
    return [
        f"trained: {done}",
        f"{describe_score(report['scores'])} on {report['scores']['scored_on']}",
        f"{report['output']}: {gates}, {bits} of {columns}, {report['bytes']:,} bytes",
    ]
