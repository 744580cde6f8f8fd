"""Workers together: equal to one process, each with its own rows, one writer, and what happens when one is lost."""

import pickle
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

from support.processes import start, wait_for_end, wait_for_write
from support.training.runs import RECIPE, VARIANTS, fingerprint, fit, make_data, make_network, run_worker

from gatewise import train

N_WORKERS = 2


def start_workers(folder: Path, size: int = N_WORKERS, **options: Any) -> list[Any]:
    folder.mkdir(exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return [start(run_worker, rank, size, port, folder, options) for rank in range(size)]


def run_workers(folder: Path, size: int = N_WORKERS, **options: Any) -> list[dict[str, Any]]:
    for process in start_workers(folder, size, **options):
        wait_for_end(process)
        assert process.exitcode == 0
    return [pickle.loads((folder / f"result{rank}").read_bytes()) for rank in range(size)]


def assert_close(result: dict[str, Any], expected: dict[str, Any]) -> None:
    """Equal up to rounding: the weights, and with them the circuit and all scores."""
    for name, weight in expected["weights"].items():
        if name.endswith("weight"):
            ours, other = (np.frombuffer(tensor, np.float32) for tensor in (result["weights"][name], weight))
            np.testing.assert_allclose(ours, other, rtol=1e-3, atol=1e-4)
    for ours, other in zip(result["records"], expected["records"], strict=True):
        assert ours["gates"] == other["gates"]
        for name in ("epoch", "step", "loss", "score", "soft_loss", "soft_score", "gap", "learning_rate"):
            assert ours[name] == pytest.approx(other[name], rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("variant", ["soft", "straight-through"])
def test_workers_equal_one_process(variant: str, tmp_path: Path) -> None:
    first, second = run_workers(tmp_path, variant=variant)
    assert first == second
    assert_close(first, fingerprint(fit(**VARIANTS[variant]())))


def test_workers_without_a_row_of_a_batch_wait_for_the_others(tmp_path: Path) -> None:
    results = run_workers(tmp_path, size=3, variant="tiny batches")
    assert results[0] == results[1] == results[2]
    assert_close(results[0], fingerprint(fit(**VARIANTS["tiny batches"]())))


def test_only_worker_0_writes_and_calls_back(tmp_path: Path) -> None:
    run_workers(tmp_path)
    assert (tmp_path / "records0").read_text() == "1 2 3 4 5 6 "
    assert not (tmp_path / "records1").exists()
    assert (tmp_path / "rank0" / "training.gwt").exists()
    assert not (tmp_path / "rank1").exists()


@pytest.mark.parametrize("variant", ["soft", "gumbel"])
def test_a_lost_worker_ends_the_run_and_the_checkpoint_goes_on(variant: str, tmp_path: Path) -> None:
    expected = run_workers(tmp_path / "whole", variant=variant, every=1)
    folder = tmp_path / "broken"
    workers = start_workers(folder, variant=variant, every=1)
    wait_for_write(folder / "records0", workers[0])
    workers[1].kill()
    wait_for_end(workers[0])
    message = (folder / "error0").read_text()
    assert "all 2 workers must be running, got a broken connection at worker 0" in message
    assert "go on from the last checkpoint" in message
    assert run_workers(folder, variant=variant, every=1) == expected


def test_a_run_goes_on_with_another_number_of_workers(tmp_path: Path) -> None:
    workers = start_workers(tmp_path, every=1)
    wait_for_write(tmp_path / "rank0" / "training.gwt", workers[0])
    for worker in workers:
        worker.kill()
        wait_for_end(worker)
    (result,) = run_workers(tmp_path, size=1, every=1)
    assert_close(result, fingerprint(fit()))


def test_under_torchrun(tmp_path: Path) -> None:
    script = ["--module", "scripts.torchrun_fit", tmp_path]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *script]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    alone = train.fit(make_network(), train.Classification(3), make_data(), recipe=RECIPE)
    assert done.stdout.count(f"60 rows, accuracy {alone.history[-1].score:.6f}\n") == 2
    assert (tmp_path / "training.gwt").exists()


def test_shards_cover_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for n_rows in (1, 7, 100):
        monkeypatch.setenv("WORLD_SIZE", "3")
        covered = []
        for rank in range(3):
            monkeypatch.setenv("RANK", str(rank))
            covered += list(range(n_rows))[train.shard(n_rows)]
        assert covered == list(range(n_rows))
