"""Workers that train one network together: who I am, which rows are mine, and sums over all.

In: the environment that torchrun sets, or a process group that exists. Out: a `Team`, which is a team of one otherwise.
Every worker holds its own rows only; a batch is drawn from all rows, and each worker computes its part of it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import ArrayLike, NDArray
from torch import nn
from torch.nn.parallel import DistributedDataParallel

TIMEOUT = timedelta(minutes=10)


class WorkerLostError(RuntimeError):
    """Another worker ended or became unreachable, so training cannot go on."""


@dataclass(frozen=True)
class Team:
    """The workers of a run; `rank` is this one's number, and number 0 writes."""

    rank: int = 0
    size: int = 1

    def sum(self, values: ArrayLike) -> NDArray[np.float64]:
        """Sums over the workers, element by element."""
        total = torch.tensor(np.asarray(values, np.float64))
        if self.size > 1:
            dist.all_reduce(total)
        return total.numpy()

    def gather(self, value: int) -> list[int]:
        """The value of every worker, in order of rank."""
        mine = np.zeros(self.size)
        mine[self.rank] = value
        return [int(each) for each in self.sum(mine)]

    def share(self, data: bytes | None) -> bytes | None:
        """What worker 0 has."""
        if self.size == 1:
            return data
        length = int(self.sum(0 if self.rank else -1 if data is None else len(data)))
        if length < 0:
            return None
        content = torch.frombuffer(bytearray(data or bytes(length)), dtype=torch.uint8)
        dist.broadcast(content, 0)
        return content.numpy().tobytes()

    def wrap(self, net: nn.Module) -> nn.Module:
        """A module that averages its gradients over the workers; all start with what worker 0 has."""
        # Buffers stay equal on all workers: wiring never changes, and what sampling observes are the weights.
        return DistributedDataParallel(net, forward_sync_buffers=False) if self.size > 1 else net


def shard(n_rows: int) -> slice:
    """The rows that this worker is to read, under torchrun; all of them otherwise.

    Examples
    --------
    >>> shard(100)
    slice(0, 100, None)
    """
    rank, size = _find_place()
    return slice(rank * n_rows // size, (rank + 1) * n_rows // size)


@contextmanager
def join_team() -> Iterator[Team]:
    """The team of this process: that of its process group, or of the one that torchrun describes, begun here.

    The group lasts as long as the process. Destroying it is not safe after a worker was lost: the last reference is
    then with the DistributedDataParallel in the traceback, whose deletion waits for a thread of gloo while holding the
    lock of the interpreter, for which that thread may be waiting in turn.
    """
    rank, size = _find_place()
    if size > 1 and not dist.is_initialized():
        dist.init_process_group("gloo", timeout=TIMEOUT)
    try:
        yield Team(rank, size)
    except RuntimeError as error:
        if size > 1 and _is_broken_connection(error):
            raise WorkerLostError(
                f"all {size} workers must be running, got a broken connection at worker {rank}; "
                "start the same command again on all of them to go on from the last checkpoint"
            ) from error
        raise


def _find_place() -> tuple[int, int]:
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def _is_broken_connection(error: RuntimeError) -> bool:
    return isinstance(error, dist.DistError) or "gloo" in str(error)
