"""Multi-label and binary: which properties does a number have?

    python examples/label_many.py

A 10-bit number comes in as bits; the labels are: odd, divisible by four, at least 512, more ones than zeros.
"""

import numpy as np

from gatewise import train

NAMES = ["odd", "divisible by 4", "at least 512", "more ones than zeros"]
RECIPE = train.Recipe(epochs=40, batch_size=50, schedule=train.Cosine(0.05))


def main() -> None:
    """Train all labels in one network, then the last label alone."""
    numbers = np.arange(1024)
    rows = (numbers[:, None] >> np.arange(10) & 1).astype(bool)
    labels = np.stack([numbers % 2 == 1, numbers % 4 == 0, numbers >= 512, rows.sum(1) > 5], 1)
    training, test = train.split(train.Bits(rows, labels), 0.2)

    task = train.MultiLabel(len(NAMES))
    net = task.network(10, [400] * 3, seed=0)
    predicted = train.fit(net, task, training, recipe=RECIPE).predict(test.packed)
    for name, share in zip(NAMES, (predicted == test.targets).mean(0), strict=True):
        print(f"{name}: {share:.1%} right")

    alone = train.Binary()
    net = alone.network(10, [400] * 3, seed=0)
    one_label = train.Bits(training.packed, training.targets[:, -1])
    predicted = train.fit(net, alone, one_label, recipe=RECIPE).predict(test.packed)
    print(f"{NAMES[-1]}, alone: {(predicted == test.targets[:, -1]).mean():.1%} right")


if __name__ == "__main__":
    main()
