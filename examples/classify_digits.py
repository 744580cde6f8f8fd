"""Classification: handwritten digits to a model that is a circuit of logic gates, trained, tested and saved.

    python examples/classify_digits.py

Needs scikit-learn for its 8 x 8 digits. Every pixel becomes three bits, one for each threshold that it exceeds.
"""

import tempfile
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from gatewise import Encoder, Model, train

EPOCHS = 15


def main() -> None:
    """Train, then print how good and how large the model is."""
    X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), test_size=0.2, random_state=0)
    encoder = Encoder.images((8, 8), n_thresholds=3, high=16.0)
    training, validation = train.split(train.Bits(encoder.encode_rows(X), y), 0.1, seed=1)

    task = train.Classification(10)
    net = task.network(encoder.n_bits, [2000] * 3, seed=0)
    recipe = train.Recipe(epochs=EPOCHS, schedule=train.Cosine(0.03))
    result = train.fit(net, task, training, validation=validation, recipe=recipe)
    print(f"best after epoch {result.best_epoch} of {EPOCHS}, gap {result.history[-1].gap:.2%}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "digits.gw")
        result.model(encoder).save(path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")
        model = Model.load(path)
    accuracy = (model.predict(X_test) == y_test).mean()
    print(f"test accuracy {accuracy:.2%} with {model.circuit.n_gates:,} of 6,000 gates")


if __name__ == "__main__":
    main()
