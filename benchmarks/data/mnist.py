"""MNIST, and data sets of the same form, from their original files.

In: a folder that has `mnist/`, or `fashion-mnist/`. Out: flat uint8 images and int64 labels.
"""

import gzip
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Images = tuple[NDArray[np.uint8], NDArray[np.int64]]


def find_data(given: Path | None) -> Path:
    """The folder that was given, or $GATEWISE_DATA."""
    folder = given or os.environ.get("GATEWISE_DATA")
    if folder is None:
        raise SystemExit("data must be given, got none; use --data DIR or set GATEWISE_DATA")
    return Path(folder)


def load_mnist(data: Path, part: str = "train", name: str = "mnist") -> Images:
    """The images and labels of "train" or "t10k"."""
    folder = data / name
    try:
        with gzip.open(folder / f"{part}-images-idx3-ubyte.gz") as file:
            images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
        with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz") as file:
            labels = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    except FileNotFoundError as error:
        raise SystemExit(f"{folder} must hold four .gz files, got {error}") from error
    return images, labels
