"""Every example runs, and prints numbers as good as it promises."""

import gzip
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples"

# What each example prints, and the least that every number in it must be.
PROMISES = {
    "classify_digits.py": (r"test accuracy ([\d.]+)%", 88.0),
    "fashion_mnist.py": (r"test accuracy ([\d.]+)%", 50.0),
    "label_many.py": (r"([\d.]+)% right", 90.0),
    "random_network.py": (r"([\d,]+) bytes, loaded back equal", 20_000.0),
    "regress.py": (r"(0\.\d{3})", 0.95),
    "resume.py": (r"resumed, accuracy ([\d.]+)%.*\n.*left alone: True", 60.0),
    "score_with_dask.py": (r"scored ([\d,]+) rows on 2 workers", 20_000.0),
}


def test_every_example_promises_something() -> None:
    assert PROMISES.keys() == {path.name for path in FOLDER.glob("*.py")}


def write_images(folder: Path) -> None:
    """Files in the form of Fashion-MNIST, of few made-up images: a class is where the image is bright."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for part, n in (("train", 300), ("t10k", 100)):
        classes = np.arange(n, dtype=np.uint8) % 10
        images = rng.integers(0, 60, (n, 28, 28), dtype=np.uint8)
        for image, label in zip(images, classes.tolist(), strict=True):
            row, column = 14 * (label % 2), 5 * (label // 2)
            image[row : row + 14, column : column + 8] += 150
        for name, head, values in (("images-idx3", 16, images), ("labels-idx1", 8, classes)):
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(gzip.compress(bytes(head) + values.tobytes()))


@pytest.mark.parametrize("name", PROMISES)
def test_example(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_images(tmp_path / "fashion-mnist")
    monkeypatch.setenv("GATEWISE_DATA", str(tmp_path))
    pattern, least = PROMISES[name]
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    printed = capsys.readouterr().out
    numbers = [float(text.replace(",", "")) for text in re.findall(pattern, printed)]
    assert numbers, printed
    assert min(numbers) >= least, printed
