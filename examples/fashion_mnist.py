"""Convolution: trees of gates that look for the same things everywhere in a picture of a shirt, a bag or a boot.

    GATEWISE_DATA=DIR python examples/fashion_mnist.py

DIR/fashion-mnist has the four files of https://github.com/zalandoresearch/fashion-mnist. Every pixel becomes three
bits, one for each threshold that it exceeds; training runs on bits: the circuit is the network that was trained.
"""

import gzip
import os
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gatewise import Encoder, Model, nn, train

LABELS = ["T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]
N_THRESHOLDS = 3
EPOCHS = 10


def read(part: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Images, one per row, and classes."""
    folder = Path(os.environ.get("GATEWISE_DATA", "."), "fashion-mnist")
    images, classes = (
        np.frombuffer(gzip.decompress((folder / f"{part}-{name}-ubyte.gz").read_bytes()), np.uint8, offset=offset)
        for name, offset in (("images-idx3", 16), ("labels-idx1", 8))
    )
    return images.reshape(len(classes), 784), classes


def main() -> None:
    """Train, then print how good the model is, and how much smaller its file than its circuit."""
    X, y = read("train")
    encoder = Encoder.images((28, 28), N_THRESHOLDS)
    net = nn.convolutional_network(
        (1, 28, 28),
        len(LABELS),
        stages=[nn.ConvolutionStage(16, kernel_size=5, stride=2), nn.ConvolutionStage(64)],
        widths=[4000, 2000],
        n_thresholds=N_THRESHOLDS,
        sampling=nn.Bitwise(3.0),
        parametrization=nn.Softmax(nn.NO_CONSTANTS, initialization=nn.Residual(3.0)),
        seed=0,
    )
    data = train.Bits(encoder.encode_rows(X), y)
    recipe = train.Recipe(epochs=EPOCHS, batch_size=100, schedule=train.Cosine(0.1), evaluate_every=EPOCHS)
    result = train.fit(net, train.Classification(len(LABELS)), data, recipe=recipe, progress=True)

    shared = nn.discretize_shared(result.net)
    print(f"{shared.n_gates:,} gates at all positions, {shared.n_stored:,} of them different")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fashion.gw")
        result.model(encoder, LABELS, circuit=shared).save(path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")
        model = Model.load(path)
    X_test, y_test = read("t10k")
    accuracy = (model.predict(X_test) == np.array(LABELS)[y_test]).mean()
    print(f"test accuracy {accuracy:.1%} with {model.circuit.n_gates:,} gates")


if __name__ == "__main__":
    main()
