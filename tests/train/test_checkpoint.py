"""Checkpoints: killed at any moment a run goes on to the same end; disks that fail are clear errors."""

import dataclasses
import errno
import os
import random
import resource
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
from support.processes import start, wait_for_write
from support.training.runs import RECIPE, VARIANTS, fingerprint, fit, fit_in_steps, fit_longer, make_data, make_network

import gatewise.store.files
from gatewise import FileError, nn, train
from gatewise.store.container import read_container, write_container
from gatewise.train import Checkpoint, CheckpointError


@pytest.mark.parametrize("variant", ["soft", "gumbel", "straight-through", "learned"])
def test_killed_at_random_moments_the_run_ends_the_same(variant: str, tmp_path: Path) -> None:
    expected = fingerprint(fit_longer(variant))
    rng = random.Random(variant)
    exits: list[int | None] = []
    while 0 not in exits and len(exits) < 100:
        process = start(fit_in_steps, variant, tmp_path)
        if rng.random() < 0.7:  # other kills may come before the process has done anything
            wait_for_write(tmp_path / "training.gwt", process)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.join()
        exits.append(process.exitcode)
    assert set(exits) <= {0, -signal.SIGKILL}
    assert exits.count(-signal.SIGKILL) >= 3
    assert fingerprint(fit_longer(variant, checkpoint=tmp_path)) == expected


@pytest.mark.parametrize("variant", ["soft", "gumbel", "straight-through", "learned"])
def test_resumed_after_every_single_step_the_run_ends_the_same(variant: str, tmp_path: Path) -> None:
    expected = fingerprint(fit(**VARIANTS[variant]()))

    class StopError(Exception):
        pass

    def stop(*_: object) -> None:
        write(*_)  # type: ignore[arg-type]
        raise StopError

    write = Checkpoint.write
    n_stops = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "write", stop)
        while n_stops < 100:
            try:
                result = fit(**VARIANTS[variant](), checkpoint=Checkpoint(tmp_path, every=1))
                break
            except StopError:
                n_stops += 1
    assert n_stops >= 32
    assert fingerprint(result) == expected


def test_a_finished_run_is_not_trained_again(tmp_path: Path) -> None:
    first = fit(checkpoint=tmp_path)
    before = (tmp_path / "training.gwt").stat().st_mtime_ns
    steps: list[int] = []
    assert fingerprint(fit(checkpoint=tmp_path, callbacks=[lambda record: steps.append(record.step)])) == fingerprint(
        first
    )
    assert steps == []
    assert (tmp_path / "training.gwt").stat().st_mtime_ns == before
    assert os.listdir(tmp_path) == ["training.gwt"]


def test_more_epochs_continue_a_run(tmp_path: Path) -> None:
    recipe = dataclasses.replace(RECIPE, schedule=train.Constant(0.2))
    fit(recipe=dataclasses.replace(recipe, epochs=2), checkpoint=tmp_path)
    assert fingerprint(fit(recipe=recipe, checkpoint=tmp_path)) == fingerprint(fit(recipe=recipe))


def test_early_stopping_is_part_of_the_state(tmp_path: Path) -> None:
    recipe = dataclasses.replace(RECIPE, epochs=60, patience=4, schedule=train.Constant(0.1))
    expected = fit(recipe=recipe)
    n_epochs = len(expected.history)
    assert n_epochs < 60
    fit(recipe=dataclasses.replace(recipe, epochs=n_epochs - 2), checkpoint=tmp_path)
    assert fingerprint(fit(recipe=recipe, checkpoint=tmp_path)) == fingerprint(expected)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("batch_size", lambda: {"recipe": dataclasses.replace(RECIPE, batch_size=17)}),
        ("schedule", lambda: {"recipe": dataclasses.replace(RECIPE, schedule=train.Constant(0.05))}),
        ("net", lambda: {"net": nn.logic_network(12, [36, 39], 3, seed=1)}),
        ("net", lambda: {"net": make_network(tau=3.0)}),
        ("net", lambda: {"net": make_network(parametrization=nn.Softmax(range(1, 16)))}),
        ("validation", lambda: {"validation": make_data(60, seed=2)}),
        ("validation", lambda: {"validation": None}),
    ],
)
def test_the_checkpoint_of_another_run_is_refused(name: str, options: Any, tmp_path: Path) -> None:
    fit(checkpoint=tmp_path)
    with pytest.raises(ValueError, match=f"^{name} must be as in the run that .*training.gwt belongs to"):
        fit(checkpoint=tmp_path, **options())


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: b"", lambda data: data[:-9] + b"?" + data[-8:]]
)
def test_a_damaged_checkpoint_is_refused(damage: Any, tmp_path: Path) -> None:
    fit(checkpoint=tmp_path)
    path = tmp_path / "training.gwt"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FileError, match=r"is not a loadable checkpoint: .* delete it to start over"):
        fit(checkpoint=tmp_path)


def test_a_checkpoint_of_an_older_version_is_refused(tmp_path: Path) -> None:
    fit(checkpoint=tmp_path)
    path = tmp_path / "training.gwt"
    arrays, document = read_container(path.read_bytes())
    del document["version"]  # as in version 1
    path.write_bytes(write_container(arrays, document))
    with pytest.raises(FileError, match=r"version must be 2, .*, got 1; delete it to start over"):
        fit(checkpoint=tmp_path)


def never(*_: object) -> torch.Tensor:
    raise AssertionError("training must not start")


NEVER = dataclasses.replace(RECIPE, augment=never)


def test_an_unwritable_folder_is_an_error_before_training(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "run", Path("/proc/gatewise")):
        with pytest.raises(CheckpointError, match=f"checkpoint folder {folder} must be writable"):
            fit(recipe=NEVER, checkpoint=folder)


def run_with_limit(folder: Path, n_bytes: int, report: Path) -> None:
    """Train in a process that cannot write files larger than `n_bytes`, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
    try:
        fit(recipe=NEVER, checkpoint=folder)
    except CheckpointError as error:
        report.write_text(str(error))


def test_a_full_disk_is_an_error_before_training(tmp_path: Path) -> None:
    process = start(run_with_limit, tmp_path / "run", 100_000, tmp_path / "report")
    process.join()
    message = (tmp_path / "report").read_text()
    assert f"checkpoint folder {tmp_path}/run must be writable and have" in message
    assert "File too large" in message
    assert os.listdir(tmp_path / "run") == []


def test_a_disk_that_becomes_full_keeps_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = fingerprint(fit())
    n_writes = 0
    fsync = os.fsync

    def fill(handle: int) -> None:
        nonlocal n_writes
        n_writes += 1
        if n_writes > 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(gatewise.store.files.os, "fsync", fill)
        with pytest.raises(CheckpointError, match=f"folder {tmp_path} must stay writable, .*No space left") as caught:
            fit(checkpoint=Checkpoint(tmp_path, every=2))
    assert "the last checkpoint in it is whole" in str(caught.value)
    assert os.listdir(tmp_path) == ["training.gwt"]
    seen: list[train.Record] = []
    assert fingerprint(fit(checkpoint=tmp_path, callbacks=[seen.append])) == expected
    assert 0 < len(seen) < 6


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".gatewise-0123.tmp").write_bytes(b"half")
    fit(checkpoint=tmp_path)
    assert os.listdir(tmp_path) == ["training.gwt"]


def test_ctrl_c_leaves_a_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    calls: list[int] = []

    def interrupt(record: train.Record) -> None:
        calls.append(record.epoch)
        if len(calls) == 3:
            raise KeyboardInterrupt

    assert fit(checkpoint=Checkpoint(tmp_path, every=4), callbacks=[interrupt]).interrupted
    result = fit(checkpoint=tmp_path)
    assert not result.interrupted
    assert fingerprint(result) == fingerprint(fit())


def test_every_must_be_positive() -> None:
    with pytest.raises(ValueError, match="every must be at least 1, got 0"):
        Checkpoint("x", every=0)
