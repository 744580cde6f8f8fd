"""History: access, figure, TensorBoard, and what a missing package says."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.tools import require_module

require_module("torch", "pip install -c constraints.txt torch==2.13.0")

from support.training.runs import fit

from gatewise import train


def test_plot_is_one_call(tmp_path: Path) -> None:
    require_module("matplotlib", "pip install -c constraints.txt matplotlib")
    history = fit().history
    figure = history.plot()
    figure.savefig(tmp_path / "run.png")
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["loss", "accuracy", "discretization gap", "gates"]
    drawn = figure.axes[1].get_lines()[0]
    assert list(drawn.get_ydata()) == history["score"]


def test_a_notebook_shows_the_figure_without_pyplot() -> None:
    require_module("matplotlib", "pip install -c constraints.txt matplotlib")
    code = (
        "import sys; from support.training.runs import fit; figure = fit().history.plot()\n"
        "sys.stdout.buffer.write(figure._repr_png_()); assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], capture_output=True, check=True)
    assert done.stdout.startswith(b"\x89PNG")
    assert len(done.stdout) > 20_000


def test_tensorboard_gets_every_record(tmp_path: Path) -> None:
    require_module("tensorboard", "pip install -c constraints.txt tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    history = fit(callbacks=[train.TensorBoard(tmp_path)]).history
    events = EventAccumulator(str(tmp_path)).Reload()
    logged = events.Scalars("score")
    assert [event.step for event in logged] == history["step"]
    assert [event.value for event in logged] == pytest.approx(history["score"])


def test_history_is_a_sequence() -> None:
    history = fit().history
    assert len(history) == len(list(history)) == 6
    assert history[-1].epoch == 6
    assert repr(history) == f"History(6 records, last accuracy {history[-1].score:.4f})"
    assert train.History([train.Record(**record) for record in history.to_json()])[2] == history[2]


@pytest.mark.parametrize(
    ("name", "call", "message"),
    [
        ("matplotlib", lambda: train.History().plot(), r"pip install 'gatewise\[plot\]'"),
        ("torch.utils.tensorboard", lambda: train.TensorBoard("x"), r"pip install 'gatewise\[tensorboard\]'"),
        ("tqdm", lambda: fit(progress=True), r"pip install 'gatewise\[torch\]'"),
    ],
)
def test_missing_packages_are_named_with_the_fix(
    name: str, call: object, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    for part in ("figure", "auto"):  # which others may have imported already
        monkeypatch.setitem(sys.modules, f"{name}.{part}", None)
    with pytest.raises(ModuleNotFoundError, match=message):
        call()  # type: ignore[operator]


def test_nothing_to_plot_is_refused() -> None:
    require_module("matplotlib", "pip install -c constraints.txt matplotlib")
    with pytest.raises(ValueError, match="history must have records"):
        train.History().plot()
