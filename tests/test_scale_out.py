"""A model on the workers of a Dask cluster: every row is scored once, even if a worker is killed meanwhile."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.tools import require_module

for name in ("dask", "distributed"):
    require_module(name, "pip install -c constraints.txt 'dask[dataframe,distributed]'")

import dask.array as da
import dask.dataframe as dd
from dask.distributed import Client, LocalCluster

from gatewise import Circuit, Encoder, Model
from gatewise.heads import Classes

N_ROWS, N_PARTS = 4_000, 40


def make_model() -> Model:
    """Whether the first column exceeds the middle of its range, and the second does not."""
    encoder = Encoder.fit(pd.DataFrame({"a": np.arange(10.0), "b": np.arange(10.0)}))
    n_bits = encoder.n_bits
    a, b = 2 + n_bits // 4, 2 + 3 * n_bits // 4
    circuit = Circuit(n_bits, gate=[2, 13], a=[a, a], b=[b, b], outputs=[2 + n_bits, 3 + n_bits], group_ptr=[0, 1, 2])
    return Model.build(encoder, circuit, Classes(("yes", "no"), tau=1.0, group_size=1))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("dask")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "local_directory": str(folder)}
    with LocalCluster(**options) as cluster, Client(cluster) as connected:
        yield connected


def make_rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.random(N_ROWS) * 9, "b": rng.random(N_ROWS) * 9})


def expect(rows: pd.DataFrame) -> np.ndarray:
    """The answers by the definition of the model."""
    return np.where((rows["a"] > 4.5) & ~(rows["b"] > 4.5), "yes", "no")


def test_array_blocks(client: Client) -> None:
    model, rows = make_model(), make_rows().to_numpy()
    blocks = da.from_array(rows, chunks=(N_ROWS // N_PARTS, 2))
    predicted = blocks.map_blocks(model.predict, drop_axis=1, dtype="<U3").compute()
    np.testing.assert_array_equal(predicted, expect(make_rows()))


def score_slowly(part: pd.DataFrame, model: Model, folder: str) -> pd.DataFrame:
    """Leaves a file for each call, named by the process, and takes its time."""
    Path(folder, f"{os.getpid()}-{part.index[0]}").touch()
    time.sleep(0.05)
    return part.assign(prediction=model.predict(part))


def test_a_killed_worker_loses_and_doubles_no_row(client: Client, tmp_path: Path) -> None:
    model, rows = make_model(), make_rows()
    table = dd.from_pandas(rows, npartitions=N_PARTS)
    meta = rows.head(0).assign(prediction=pd.Series(dtype=object))
    future = client.compute(table.map_partitions(score_slowly, model, str(tmp_path), meta=meta))
    while len(list(tmp_path.iterdir())) < N_PARTS // 4:
        time.sleep(0.01)
    pids = {int(file.name.split("-")[0]) for file in tmp_path.iterdir()}
    os.kill(min(pids), signal.SIGKILL)
    scored = future.result()
    pd.testing.assert_index_equal(scored.index, rows.index)
    pd.testing.assert_frame_equal(scored[["a", "b"]], rows)
    np.testing.assert_array_equal(scored["prediction"].to_numpy(str), expect(rows))
    assert len({file.name.split("-")[0] for file in tmp_path.iterdir()}) >= 2
