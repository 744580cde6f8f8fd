"""Classification: handwritten digits to a circuit of logic gates, trained, tested, optimized and saved.

    python examples/classify_digits.py

Needs scikit-learn for its 8 x 8 digits. Every pixel becomes three bits, one for each threshold that it reaches.
"""

import tempfile
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits

from gatewise import Engine, optimize, save, train

EPOCHS = 15


def main() -> None:
    """Train, then print how good and how large the circuit is."""
    pixels, digits = load_digits(return_X_y=True)
    rows = np.concatenate([pixels >= threshold for threshold in (3, 7, 12)], axis=1)
    rest, test = train.split(train.Bits(rows, digits), 0.2, seed=0)
    training, validation = train.split(rest, 0.1, seed=1)

    task = train.Classification(10)
    net = task.network(rows.shape[1], [2000] * 3, seed=0, generator=torch.Generator().manual_seed(0))
    recipe = train.Recipe(epochs=EPOCHS, schedule=train.Cosine(0.03))
    result = train.fit(net, task, training, validation=validation, recipe=recipe)

    circuit = optimize(result.circuit())
    right = Engine(circuit).classify(test.packed) == test.targets
    print(f"best after epoch {result.best_epoch} of {EPOCHS}, gap {result.history[-1].gap:.2%}")
    print(f"test accuracy {right.mean():.2%} with {len(circuit.gate):,} of 6,000 gates")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "digits.gw")
        save(path, circuit)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
