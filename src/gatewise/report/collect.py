"""Collects the facts: runs the model on the table that is given, and measures.

In: a model and optionally a table with true answers. Out: a `Report`.
Invariant: everything that is said about the model is measured by its own circuit; the same arguments give the same
report, but for the times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.bits import Planes
from gatewise.circuit import N_CONSTANTS, find_levels
from gatewise.encode.tables import Table, as_table
from gatewise.heads import Affine, Classes
from gatewise.importance import choose_effort, measure_rises, take_bits
from gatewise.machine import cpu_name
from gatewise.model import Model
from gatewise.report.columns import count_values, describe_column, find_image
from gatewise.report.facts import CircuitFacts, ColumnFacts, ModelFacts, Quality, Report, Sample
from gatewise.report.quality import (
    LEAST,
    MAX_CLASSES,
    match_labels,
    match_values,
    rate_classes,
    rate_several,
    rate_values,
)
from gatewise.run.engine import Engine
from gatewise.run.timing import time_call

MAX_GATES = 150_000
"""Larger circuits are not carried by the page."""

MAX_COLUMNS = 4_000
MAX_RATED = 5_000
MAX_SAMPLED, MIN_SAMPLED, MAX_BYTES = 1_000, 40, 300_000
"""Rows of the table that the page carries, and their bytes, which become a third more in the page."""

N_TIMED = 2**14
SEED = 0


def collect(
    model: Model,
    X: Any = None,
    *,
    y: Any = None,
    title: str = "A model of gates",
    image: tuple[int, int] | None = None,
    history: Sequence[Mapping[str, Any]] = (),
    proofs: Sequence[Mapping[str, Any]] = (),
    commands: Sequence[str] = (),
) -> Report:
    """All facts about a model.

    Parameters
    ----------
    model, X, y, title, image, history, proofs, commands
        See `Model.report`.

    Examples
    --------
    >>> from gatewise import Circuit, Encoder
    >>> encoder = Encoder.fit([[17.0], [39.0]])
    >>> model = Model(encoder, Circuit(1, [], [], [], [2], [0, 1]), Affine((1.0,), (0.0,), group_size=1))
    >>> report = collect(model, [[10.0], [50.0]], y=[0, 1])
    >>> report.quality.r2, report.columns[0].questions
    (1.0, ['x0 > 28'])
    """
    _check_image(image, model)
    table = None if X is None else as_table(X)
    if y is not None and table is None:
        raise ValueError("y must be given with X, whose true answers it holds, got y only")
    planes = None if table is None else model.encoder.encode(table, threads=model.threads)
    counts = None if planes is None else Engine(model.circuit, model.threads).counts(planes)
    truth = None if y is None or counts is None else _match(model, y, len(counts))
    is_small = model.circuit.n_gates <= MAX_GATES and model.encoder.n_columns <= MAX_COLUMNS
    is_rated = planes is not None and len(planes) > 1 and is_small
    rises = _rate_columns(model, planes, truth) if planes is not None and is_rated else None
    columns = [
        describe_column(column, None if rises is None else float(rises[table_idx]))
        for column, table_idx in zip(model.encoder.columns, model.encoder.table_idx, strict=True)
    ]
    picture = (image or find_image(model.encoder)) if is_small else None
    sample = None
    if table is not None and counts is not None and len(counts) and is_small:
        numbers = model.encoder.to_numbers(table)
        columns = _add_histograms(columns, numbers, _summarize(model, counts))
        if picture is not None:  # a page shows maps of all pixels instead
            columns = [replace(column, histogram=None) for column in columns]
        sample = _take_sample(numbers, truth)
    return Report(
        title=title,
        model=_describe_model(model, table),
        columns=tuple(columns) if is_small else (),
        image=picture,
        circuit=_describe_circuit(model) if is_small else None,
        quality=None if counts is None or truth is None or not len(counts) else _rate(model, counts, truth),
        sample=sample,
        history=tuple(dict(each) for each in history),
        proofs=tuple(dict(each) for each in proofs),
        commands=tuple(commands),
        left_out=_say_what_is_left_out(model, is_small=is_small, has_rows=table is not None, has_truth=y is not None),
    )


def _check_image(image: tuple[int, int] | None, model: Model) -> None:
    if image is not None and (len(image) != 2 or image[0] * image[1] != model.encoder.n_columns):
        raise ValueError(f"image must be a height and a width of {model.encoder.n_columns} pixels, got {image!r:.60}")


def _match(model: Model, y: Any, n_rows: int) -> NDArray[Any]:
    if isinstance(model.head, Classes):
        return match_labels(model.head, y, n_rows)
    return match_values(y, n_rows, model.head.n_groups)


def _rate(model: Model, counts: NDArray[np.int32], truth: NDArray[Any]) -> Quality:
    if isinstance(model.head, Classes):
        return rate_classes(truth, model.head.proba(counts))
    rate = rate_several if truth.ndim == 2 else rate_values
    return rate(truth, model.head.predict(counts))


def _summarize(model: Model, counts: NDArray[np.int32]) -> NDArray[np.float64] | None:
    """One number per row that histograms show the mean of; None for several classes and several values."""
    if isinstance(model.head, Classes):
        return model.head.proba(counts)[:, 1] if model.head.n_groups == 2 else None
    return model.head.predict(counts) if model.head.n_groups == 1 else None


def _rate_columns(model: Model, planes: Planes, truth: NDArray[Any] | None) -> NDArray[np.float64]:
    """Rise of the loss by column of the table; without true answers, how much the scores change, squared."""
    is_known = np.ones((len(planes), 1), bool)
    if truth is not None:
        is_known = (truth >= 0 if truth.dtype.kind == "i" else np.isfinite(truth)).reshape(len(planes), -1)
    rows = np.flatnonzero(is_known.all(axis=1))
    if len(rows) > MAX_RATED:
        rows = np.sort(np.random.default_rng(SEED).choice(rows, MAX_RATED, replace=False))
    chosen, n_repeats = choose_effort(len(rows), sum(column.n_bits > 0 for column in model.encoder.columns))
    rows = rows[chosen]
    bits = take_bits(planes, np.arange(model.encoder.n_bits), rows)
    plain = model.head.scores(Engine(model.circuit).counts(Planes.pack(bits)))
    wanted = None if truth is None else truth[rows]

    def find_loss(scores: NDArray[np.float64]) -> float:
        if wanted is None:
            return float(np.square(scores - plain).mean())
        if wanted.dtype.kind == "f":
            return float(np.square(scores - wanted.reshape(scores.shape)).mean())
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        own = powers[np.arange(len(wanted)), wanted] / powers.sum(axis=1)
        return float(-np.log(np.maximum(own, LEAST)).mean())

    return measure_rises(model, bits, find_loss, n_repeats=n_repeats, seed=SEED, threads=model.threads)


def _add_histograms(
    columns: Sequence[ColumnFacts], numbers: NDArray[np.float64], answers: NDArray[np.float64] | None
) -> list[ColumnFacts]:
    found = []
    for i, column in enumerate(columns):
        if column.questions:
            histogram, low, high, is_whole = count_values(column, numbers[:, i], answers)
            column = replace(column, histogram=histogram, low=low, high=high, is_whole=is_whole)
        found.append(column)
    return found


def _take_sample(numbers: NDArray[np.float64], truth: NDArray[Any] | None) -> Sample:
    """Rows drawn at random, as many as there are bytes for, but never fewer than a few."""
    n_rows, n_columns = numbers.shape
    order = np.random.default_rng(SEED).permutation(n_rows)
    n = min(n_rows, MAX_SAMPLED)
    while True:
        rows = np.sort(order[:n])
        coded = [_code(numbers[rows, i]) for i in range(n_columns)]
        n_bytes = sum(values.nbytes + codes.nbytes for values, codes in coded)
        if n_bytes <= MAX_BYTES or n <= MIN_SAMPLED:
            break
        n = max(MIN_SAMPLED, min(n - 1, n * MAX_BYTES // n_bytes))
    return Sample(
        rows=rows.astype(np.int32),
        values=tuple(values for values, _ in coded),
        codes=tuple(codes for _, codes in coded),
        truth=None if truth is None or truth.ndim != 1 else truth[rows].astype(np.float64),
    )


def _code(numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.uint8 | np.uint16]]:
    values, codes = np.unique(numbers, return_inverse=True)
    return values, codes.astype(np.uint8 if len(values) <= 256 else np.uint16)


def _describe_model(model: Model, table: Table | None) -> ModelFacts:
    head, circuit = model.head, model.circuit
    kinds = circuit.count_gates()
    engine = Engine(circuit, model.threads)
    bits = Planes.pack(np.random.default_rng(SEED).integers(0, 2, (64, circuit.n_inputs)).astype(bool))
    many = Planes(np.tile(bits.words, (1, N_TIMED // 64)), N_TIMED)
    is_timed = table is not None and len(table) > 0
    return ModelFacts(
        kind=type(head).__name__.lower(),
        labels=head.labels if isinstance(head, Classes) else (),
        tau=head.tau if isinstance(head, Classes) else 1.0,
        scale=head.scale if isinstance(head, Affine) else (),
        offset=head.offset if isinstance(head, Affine) else (),
        group_size=head.group_size,
        n_columns=len(model.encoder.table_names),
        n_bits=model.encoder.n_bits,
        n_gates=circuit.n_gates,
        n_levels=len(kinds),
        n_groups=circuit.n_groups,
        n_outputs=circuit.n_outputs,
        n_bytes=len(model.to_bytes()),
        threads=model.threads,
        ns_per_bits=_time(lambda: engine.counts(many), N_TIMED),
        ns_per_row=_time(lambda: model.predict(table), len(table)) if table is not None and is_timed else None,
        machine=cpu_name(),
        gates_of_levels=kinds.tolist(),
    )


def _time(call: Any, n_rows: int) -> float:
    """Nanoseconds per row, the least of a few calls."""
    return 1e9 * time_call(call, seconds=0.1, min_calls=3).least / n_rows


def _describe_circuit(model: Model) -> CircuitFacts:
    circuit = model.circuit
    groups = np.repeat(np.arange(circuit.n_groups), np.diff(circuit.group_ptr))
    pairs, votes = np.unique(np.stack([groups, circuit.outputs]), axis=1, return_counts=True)
    n_sources = N_CONSTANTS + circuit.n_inputs
    levels = find_levels(n_sources, circuit.a, circuit.b)[n_sources:].astype(np.int32)
    wires, kinds = pairs[1].astype(np.int32), pairs[0].astype(np.int32)
    return CircuitFacts(circuit.gate, circuit.a, circuit.b, levels, wires, kinds, votes.astype(np.int32))


def _say_what_is_left_out(model: Model, *, is_small: bool, has_rows: bool, has_truth: bool) -> tuple[str, ...]:
    sentences = []
    if not is_small:
        sentences.append(
            f"The circuit has {model.circuit.n_gates:,} gates and reads {model.encoder.n_columns:,} columns. Pages "
            f"carry up to {MAX_GATES:,} gates and {MAX_COLUMNS:,} columns, so gates, columns and live model are "
            "left out; everything else is about the whole model."
        )
    if not has_rows:
        sentences.append("No table was given, so there are no rows to start from, no histograms and no importances.")
    elif not has_truth:
        sentences.append("No true answers were given, so nothing is said about how good the answers are.")
    if isinstance(model.head, Classes) and model.head.n_groups > MAX_CLASSES and has_truth:
        sentences.append(f"There are {model.head.n_groups} classes; confusions are shown for up to {MAX_CLASSES}.")
    return tuple(sentences)
