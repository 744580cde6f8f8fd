"""Layers as they are inside skorch and torch's DistributedDataParallel."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

import torch
import torch.distributed as dist
from torch import multiprocessing
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from gatewise import Engine
from gatewise.nn import HardStraightThrough, Light, discretize, logic_network

N_WORKERS = 2
NETWORKS = {
    "softmax": dict,
    "hard": lambda: {"sampling": HardStraightThrough()},
    "hard, compiled": lambda: {"sampling": HardStraightThrough()},
    "light": lambda: {"parametrization": Light()},
}
COMPILED = {"hard, compiled"}


def make_network(kind: str) -> torch.nn.Module:
    return logic_network(12, [40, 30], 3, generator=torch.Generator().manual_seed(0), **NETWORKS[kind]())


def make_batch() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randint(2, (64, 12), generator=generator).bool()
    return x, torch.randint(3, (64,), generator=generator)


def take_steps(net: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
    """Three steps of gradient descent; the gradients of the last, and the weights after it."""
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    for _ in range(3):
        optimizer.zero_grad()
        cross_entropy(net(x), y).backward()
        optimizer.step()
    return [tensor.detach().clone() for p in net.parameters() for tensor in (p.grad, p)]


def run_worker(rank: int, folder: str) -> None:
    store = dist.FileStore(f"{folder}/store", N_WORKERS)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=N_WORKERS)
    torch.set_num_threads(1)
    x, y = (part.chunk(N_WORKERS)[rank] for part in make_batch())
    for kind in NETWORKS:
        net = make_network(kind)
        if rank:  # workers start from the weights of rank 0
            with torch.no_grad():
                net[0].weight.zero_()
        if kind in COMPILED:
            net = torch.compile(net, backend="aot_eager", fullgraph=True)
        torch.save(take_steps(DistributedDataParallel(net), x, y), f"{folder}/{kind}-{rank}.pt")
    dist.destroy_process_group()


def test_distributed_workers_equal_one_process(tmp_path: Path) -> None:
    multiprocessing.spawn(run_worker, (str(tmp_path),), nprocs=N_WORKERS)
    for kind in NETWORKS:
        expected = take_steps(make_network(kind), *make_batch())
        workers = [torch.load(tmp_path / f"{kind}-{rank}.pt", weights_only=True) for rank in range(N_WORKERS)]
        for first, second, joint in zip(*workers, expected, strict=True):
            assert torch.equal(first, second)
            torch.testing.assert_close(first, joint, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.bool_, np.float32])
def test_skorch_classifier(dtype: type) -> None:
    skorch = require_module("skorch", "pip install -c constraints.txt skorch")
    rows = np.random.default_rng(0).integers(0, 2, (300, 12)).astype(dtype)
    classes = (rows[:, 0] + 2 * (rows[:, 1] * rows[:, 2])).astype(np.int64) % 3
    torch.manual_seed(0)
    net = skorch.NeuralNetClassifier(
        logic_network,
        module__in_features=12,
        module__widths=[96, 96],
        module__groups=3,
        module__seed=0,
        criterion=torch.nn.CrossEntropyLoss,
        optimizer=torch.optim.Adam,
        lr=0.05,
        max_epochs=15,
        batch_size=32,
        verbose=0,
    )
    net.fit(rows, classes)
    assert net.score(rows, classes) > 0.9
    predicted = net.predict(rows)
    np.testing.assert_array_equal(Engine(discretize(net.module_)).classify(rows.astype(bool)), predicted)
    for again in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        np.testing.assert_array_equal(again.predict(rows), predicted)
