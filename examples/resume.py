"""A run that is interrupted, goes on from its checkpoint, and ends bit for bit as if nothing had happened.

    python examples/resume.py

Kill this process whenever you like when the folder is one of your own: the same call of `fit` goes on.
"""

import tempfile

import numpy as np
import torch

from gatewise import train

RECIPE = train.Recipe(epochs=8, batch_size=50, schedule=train.Cosine(0.05))


def interrupt(record: train.Record) -> None:
    """Press Ctrl-C after the third epoch."""
    if record.epoch == 3:
        raise KeyboardInterrupt


def main() -> None:
    """Interrupt, resume, and compare with a run that was left alone."""
    rows = np.random.default_rng(0).integers(0, 2, (1000, 16)).astype(bool)
    training, validation = train.split(train.Bits(rows, rows[:, :3].sum(1)), 0.2)
    task = train.Classification(4)
    net = task.network(16, [200, 200], seed=0)
    options = {"validation": validation, "recipe": RECIPE}

    with tempfile.TemporaryDirectory() as folder:
        checkpoint = train.Checkpoint(folder, every=10)
        first = train.fit(net, task, training, checkpoint=checkpoint, callbacks=[interrupt], **options)
        print(f"interrupted after {len(first.history)} epochs, accuracy {first.history[-1].score:.1%}")
        resumed = train.fit(net, task, training, checkpoint=checkpoint, **options)
    alone = train.fit(net, task, training, **options)
    print(f"resumed, accuracy {resumed.history[-1].score:.1%} after {len(resumed.history)} epochs")
    same = all(torch.equal(p, q) for p, q in zip(resumed.net.parameters(), alone.net.parameters(), strict=True))
    print(f"weights equal those of a run that was left alone: {same}")
    if not same:
        raise SystemExit("a resumed run must end as one that was left alone")


if __name__ == "__main__":
    main()
