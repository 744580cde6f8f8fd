"""`gatewise demo`: digits, from images to a saved, loaded and timed circuit, beside models of scikit-learn."""

import argparse
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gatewise import wiring
from gatewise.cli.pictures import draw_confusion, draw_gates, plot_circuit
from gatewise.encode import Encoder
from gatewise.extras import install_command, require
from gatewise.model import Model
from gatewise.run.timing import time_call

if TYPE_CHECKING:
    from gatewise.train import Result

SHAPE, HIGH = (8, 8), 16.0  # scikit-learn's digits
N_THRESHOLDS = 7
WIDTHS = [2000, 2000]
TAU = 8.0
CANDIDATES = wiring.RandomCandidates(8)
TEMPERATURE = 4.0
LEARNING_RATE = 0.1
BATCH_SIZE = 64
EPOCHS = 120
N_ROWS = 10_000
SEED = 0
EXAMPLES = """examples:
  gatewise demo
  gatewise demo -o results
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "-o", "--output", type=Path, default=Path(), metavar="DIR", help="folder for its files (default: this one)"
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS, metavar="N", help=f"of training (default: {EPOCHS})")


def run(args: argparse.Namespace) -> int:
    """Show the demo."""
    if not args.output.is_dir():
        raise ValueError(f"--output must be a folder that exists, got {args.output}; make it first")
    for line in run_demo(args.output, progress=sys.stderr.isatty(), epochs=args.epochs):
        print(line, flush=True)
    return 0


def run_demo(folder: Path, *, progress: bool = False, epochs: int = EPOCHS) -> Iterator[str]:
    """Train, compile, save, load, measure and compare.

    Parameters
    ----------
    folder : path
        Where the model and the picture go.
    progress : bool
        Whether to show a progress bar.
    epochs : int
        Of training; few make a shorter demo.

    Yields
    ------
    str
        Lines, as soon as they are known.
    """
    for name in ("torch", "sklearn"):
        require(name, "demo", needed_by="the demo")
    from sklearn.datasets import load_digits
    from sklearn.metrics import confusion_matrix
    from sklearn.model_selection import train_test_split

    can_draw = importlib.util.find_spec("matplotlib") is not None
    if not can_draw:
        yield f"picture    none, because matplotlib is not installed; get it by: {install_command('plot')}"
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=SEED, stratify=y)
    yield f"data       {len(X_train)} images of 8x8 pixels to learn from, {len(X_test)} to test with"
    encoder, result = train_digits(X_train, y_train, progress=progress, epochs=epochs)
    last = result.history[-1]
    gates = np.array(last.gates)
    yield f"trained    {' + '.join(map(str, WIDTHS))} gates and their wires, {epochs} epochs in {last.seconds:.0f} s"
    path = folder / "digits.gw"
    result.model(encoder).save(path)
    model = Model.load(path)
    yield f"simplified {gates.sum():,} -> {model.circuit.n_gates:,} gates, {model.info()['levels']} levels"
    yield f"saved      {path}: {path.stat().st_size:,} bytes; loaded again: {model}"
    predicted = model.predict(X_test)
    yield f"accuracy   {100 * np.mean(predicted == y_test):.2f} % of the test images"
    yield ""
    yield from compare(model, X_train, X_test, y_train, y_test)
    confusion = confusion_matrix(y_test, predicted)
    yield from [
        "",
        "Gates of each layer, numbered as in the paper: 3 is A, 7 is OR",
        draw_gates(gates),
        "",
        "Confusions",
        draw_confusion(confusion, list(range(10))),
    ]
    page = folder / "digits.html"
    report = model.report(
        X_test, y_test, title="Handwritten digits", history=result.history.to_json(), commands=["gatewise demo"]
    )
    report.save(page)
    if can_draw:
        picture = folder / "digits.png"
        plot_circuit(gates, confusion, list(range(10))).savefig(picture, dpi=120)
        yield f"\npicture    {picture}"
    yield f"page       {page}: open it in a browser, and draw a digit"


def train_digits(
    X: NDArray[Any], y: NDArray[Any], *, progress: bool = False, epochs: int = EPOCHS
) -> tuple[Encoder, "Result"]:
    """The encoder of images, and a network with learned wires that is trained on their bits."""
    from gatewise import nn, train

    encoder = Encoder.images(SHAPE, N_THRESHOLDS, high=HIGH)
    task = train.Classification(10)
    net = task.network(
        encoder.n_bits, WIDTHS, tau=TAU, candidates=CANDIDATES, sampling=nn.Bitwise(TEMPERATURE), seed=SEED
    )
    recipe = train.Recipe(epochs=epochs, batch_size=BATCH_SIZE, schedule=train.Cosine(LEARNING_RATE), seed=SEED)
    bits = train.Bits(encoder.encode_rows(X), y)
    return encoder, train.fit(net, task, bits, recipe=recipe, progress=progress)


def compare(
    model: Model, X_train: NDArray[Any], X_test: NDArray[Any], y_train: NDArray[Any], y_test: NDArray[Any]
) -> Iterator[str]:
    """A line for each of scikit-learn's models on the same rows: accuracy, and time to predict in one thread."""
    from threadpoolctl import threadpool_limits

    rows = np.resize(X_test, (N_ROWS, X_test.shape[1]))
    with threadpool_limits(1):
        ours = time_rows(model.predict, rows)
        yield f"{'one thread, from raw rows':<32}{'accuracy':>10}{'ns per row':>12}"
        yield f"{'gatewise':<32}{100 * np.mean(model.predict(X_test) == y_test):>8.2f} %{ours:>12.1f}"
        for peer in make_peers():
            peer.fit(X_train, y_train)
            ns, accuracy = time_rows(peer.predict, rows), 100 * peer.score(X_test, y_test)
            yield f"{type(peer).__name__:<32}{accuracy:>8.2f} %{ns:>12.1f}   {ns / ours:.1f} times ours"


def make_peers() -> list[Any]:
    """Models that scikit-learn's users would try."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    return [
        LogisticRegression(max_iter=3000),
        DecisionTreeClassifier(random_state=SEED),
        MLPClassifier(random_state=SEED),
        HistGradientBoostingClassifier(random_state=SEED),
    ]


def time_rows(predict: Callable[[NDArray[Any]], object], rows: NDArray[Any]) -> float:
    """Nanoseconds per row, the least of a few calls."""
    return 1e9 * time_call(lambda: predict(rows), seconds=0.2, min_calls=3).least / len(rows)
