"""Every example runs, and prints numbers as good as it promises."""

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"

# What each example prints, and the least that every number in it must be.
PROMISES = {
    "classify_digits.py": (r"test accuracy ([\d.]+)%", 88.0),
    "label_many.py": (r"([\d.]+)% right", 90.0),
    "random_network.py": (r"([\d,]+) bytes, loaded back equal", 20_000.0),
    "regress.py": (r"(0\.\d{3})", 0.95),
    "resume.py": (r"resumed, accuracy ([\d.]+)%.*\n.*left alone: True", 60.0),
    "score_with_dask.py": (r"scored ([\d,]+) rows on 2 workers", 20_000.0),
}


def test_every_example_promises_something() -> None:
    assert PROMISES.keys() == {path.name for path in FOLDER.glob("*.py")}


@pytest.mark.parametrize("name", PROMISES)
def test_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pattern, least = PROMISES[name]
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    printed = capsys.readouterr().out
    numbers = [float(text.replace(",", "")) for text in re.findall(pattern, printed)]
    assert numbers, printed
    assert min(numbers) >= least, printed
