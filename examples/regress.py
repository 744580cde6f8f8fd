"""Regression: one output, and two at once, with the affine and the logit head.

    python examples/regress.py

Two 6-bit numbers u and v come in as bits; the circuits learn u + v, and u + v together with u - v.
"""

import numpy as np

from gatewise import nn, train

N_BITS = 6
RECIPE = train.Recipe(epochs=15, batch_size=50, schedule=train.Cosine(0.05))


def main() -> None:
    """Train one network for each head, and print how much of the variance it explains on rows it has not seen."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (3000, 2 * N_BITS)).astype(bool)
    weights = 2 ** np.arange(N_BITS)
    u, v = rows[:, :N_BITS] @ weights, rows[:, N_BITS:] @ weights
    both = np.stack([u + v, u - v], 1).astype(float)
    for name, make_head, targets in (
        ("affine, u + v", nn.Affine.fitted, both[:, 0]),
        ("logit, u + v", nn.Logit.fitted, both[:, 0]),
        ("affine, u + v and u - v", nn.Affine.fitted, both),
    ):
        rest, test = train.split(train.Bits(rows, targets), 0.2)
        training, validation = train.split(rest, 0.1)
        task = train.Regression(make_head(training.targets))
        net = task.network(2 * N_BITS, [768] * 3, seed=0)
        result = train.fit(net, task, training, validation=validation, recipe=RECIPE)
        expected = test.targets.reshape(len(test), -1)
        explained = 1 - np.square(result.predict(test.packed) - expected).mean(0) / expected.var(0)
        print(f"{name}: R2 {', '.join(f'{value:.3f}' for value in explained)}")


if __name__ == "__main__":
    main()
