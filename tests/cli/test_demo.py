"""`gatewise demo`: what it prints and leaves behind."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt '.[sklearn]'")
require_module("sklearn", "pip install -c constraints.txt '.[sklearn]'")

from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from gatewise import Model
from gatewise.cli import main
from gatewise.cli.commands import demo
from gatewise.extras import install_command


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows, and one model to compare with."""
    monkeypatch.setattr(demo, "N_ROWS", 500)
    monkeypatch.setattr(demo, "make_peers", lambda: [DecisionTreeClassifier(random_state=0)])


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "-o", str(tmp_path), "--epochs", "5"]) == 0
    printed = capsys.readouterr().out
    model = Model.load(tmp_path / "digits.gw")
    assert f"simplified 4,000 -> {model.circuit.n_gates:,} gates" in printed
    assert all(f"layer {i}" in printed for i in range(1, 3))
    assert re.search(r"DecisionTreeClassifier +\d\d\.\d\d % +[\d.]+   [\d.]+ times ours", printed)
    found = re.search(r"accuracy   (\S+) % of the test images", printed)
    assert found
    X, y = load_digits(return_X_y=True)
    assert float(found[1]) > 80
    assert (model.predict(X) == y).mean() > 0.8
    page = tmp_path / "digits.html"
    assert f"picture    {tmp_path / 'digits.png'}\npage       {page}: open it" in printed
    assert '"image":[8,8]' in page.read_text()
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_it_says_so_first_and_draws_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["demo", "-o", str(tmp_path), "--epochs", "5"]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == f"picture    none, because matplotlib is not installed; get it by: {install_command('plot')}"
    assert last.startswith("page ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["digits.gw", "digits.html"]


@pytest.mark.parametrize("module", ["torch", "sklearn"])
def test_what_it_cannot_do_without_is_named_before_the_work(tmp_path: Path, module: str) -> None:
    argv = ["demo", "-o", str(tmp_path)]
    code = f"import sys; sys.modules[{module!r}] = None; from gatewise.cli import main; sys.exit(main({argv!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    expected = f"gatewise demo: the demo needs {module}, which is not installed; get it by: "
    assert done.stderr == f"{expected}{install_command('demo')}\n"


def test_a_folder_that_does_not_exist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "-o", str(tmp_path / "nowhere")]) == 2
    assert "--output must be a folder that exists" in capsys.readouterr().err
