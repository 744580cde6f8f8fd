"""A process that uses threads, forks, and whose children use them again: `python forks.py SCENARIO`.

A program of its own, because processes with threads of pytest or of other tests would not show what one fork does. Its
exit code is 0 if every child answered as its parent did and ended as it should, by the normal end of an interpreter.
"""

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable

import numpy as np

from gatewise import Circuit, Encoder, Model
from gatewise.heads import Classes

N_FORKS = 5
WIDTH = 24
ROWS = np.random.default_rng(0).random((20_000, WIDTH))  # several chunks and blocks, for both threads


def make_model() -> Model:
    """Compares pairs of columns, in two groups."""
    gate, wires = np.full(WIDTH // 2, 6), np.arange(WIDTH)
    circuit = Circuit.from_layers(WIDTH, [(wires[::2], wires[1::2], gate)], n_groups=2)
    return Model(Encoder.images((WIDTH,), 1, high=1.0), circuit, Classes((0, 1), 1.0, WIDTH // 4), threads=2)


def fork(work: Callable[[], bool]) -> int:
    """Start a child that ends with 0 if `work` is true there, with 3 if it is not; gives its process id."""
    child = os.fork()
    if child == 0:
        sys.exit(0 if work() else 3)
    return child


def require_success(children: list[int]) -> None:
    """Wait for all of them."""
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if any(codes):
        raise SystemExit(f"children must end with 0, got {codes}")


def predict() -> None:
    """A child of a child predicts, too."""
    model = make_model()
    expected = model.predict(ROWS)

    def agrees() -> bool:
        return np.array_equal(model.predict(ROWS), expected)

    def agrees_in_a_child() -> bool:
        require_success([fork(agrees)])
        return agrees()

    for _ in range(N_FORKS):
        require_success([fork(agrees_in_a_child)])
    assert agrees()


def leave() -> None:
    """Children that never use the threads of their parent, and drop the model."""
    model = make_model()
    model.predict(ROWS)
    for _ in range(N_FORKS):
        child = os.fork()
        if child == 0:
            del model
            sys.exit(0)
        require_success([child])


def prefork() -> None:
    """A server: one model, several workers at a time, and the parent goes on."""
    model = make_model()
    expected = model.predict(ROWS)

    def serve() -> bool:
        return all(np.array_equal(model.predict(ROWS[i:]), expected[i:]) for i in range(3))

    for _ in range(N_FORKS):
        workers = [fork(serve) for _ in range(3)]
        assert serve()
        require_success(workers)


def busy() -> None:
    """Forks while other threads are in the middle of predictions, so that they hold whatever there is to hold."""
    model = make_model()
    expected = model.predict(ROWS)
    stop = threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            model.predict(ROWS)

    others = [threading.Thread(target=keep_busy) for _ in range(3)]
    for other in others:
        other.start()
    try:
        for _ in range(4 * N_FORKS):
            require_success([fork(lambda: np.array_equal(model.predict(ROWS), expected))])
    finally:
        stop.set()
        for other in others:
            other.join()


shared: list[Model] = []


def predict_shared(first_row: int) -> np.ndarray:
    """With the model that was there at the fork."""
    return shared[0].predict(ROWS[first_row:])


def pool() -> None:
    """Workers of multiprocessing that were forked."""
    shared.append(make_model())
    expected = shared[0].predict(ROWS)
    for _ in range(N_FORKS):
        with multiprocessing.get_context("fork").Pool(2) as workers:
            for first, got in enumerate(workers.map(predict_shared, range(4))):
                assert np.array_equal(got, expected[first:])
            workers.close()
            workers.join()


def train() -> None:
    """Training goes on in children; at a learning rate of 0, with the same loss."""
    import torch

    from gatewise import nn

    torch.set_num_threads(2)
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(2, (4000, 20), generator=generator).bool()
    y = torch.randint(2, (4000,), generator=generator)
    step = nn.TrainStep(nn.logic_network(20, [80, 80], 2, seed=0), learning_rate=0.0)
    expected = step(x, y)

    for _ in range(N_FORKS):
        require_success([fork(lambda: step(x, y) == expected) for _ in range(2)])
        assert step(x, y) == expected


if __name__ == "__main__":
    {scenario.__name__: scenario for scenario in (predict, leave, prefork, busy, pool, train)}[sys.argv[1]]()
