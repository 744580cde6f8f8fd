"""`gatewise demo`: what it prints and leaves behind."""

from pathlib import Path

import numpy as np
import pytest
from tools import require_module

require_module("torch", "pip install 'gatewise[torch]'")
require_module("sklearn", "pip install 'gatewise[sklearn]'")

from sklearn.tree import DecisionTreeClassifier

from gatewise import load
from gatewise.cli import demo, main


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "N_ROWS", 500)
    monkeypatch.setattr(demo, "make_peers", lambda: [DecisionTreeClassifier(random_state=0)])
    assert main(["demo", "-o", str(tmp_path), "--max-iter", "3"]) == 0
    printed = capsys.readouterr().out
    for word in ("accuracy", "optimized  18,000 ->", "DecisionTreeClassifier", "layer 6", "digits.png"):
        assert word in printed
    assert load(tmp_path / "digits.gw").predict(np.zeros((2, 64))).shape == (2,)
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")
    assert main(["demo", "-o", str(tmp_path / "nowhere")]) == 2
