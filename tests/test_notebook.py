"""What notebooks show of circuits, encoders, histories and estimators: tables whose strings are text, and figures."""

import numpy as np
import pytest
from support.small_models import list_rows, make_model
from support.tools import require_module

from gatewise import Circuit, Encoder
from gatewise.encode import Categorical
from gatewise.gates import AND, OR, XOR
from gatewise.notebook import make_table

CIRCUIT = Circuit(3, gate=[AND, XOR, XOR], a=[2, 3, 5], b=[3, 4, 6], outputs=[7, 6], group_ptr=[0, 2])


def test_tables() -> None:
    html = CIRCUIT._repr_html_()
    assert "<th>gates</th><td>3</td>" in html
    assert "<th>levels</th><td>2</td>" in html
    assert "2 XOR, 1 AND" in html
    html = Encoder((Categorical("<b>", ("<i>", "x")),), named=True)._repr_html_()
    assert "<th>&lt;b&gt;</th><td>&lt;b&gt; = &lt;i&gt;, &lt;b&gt; = x</td>" in html
    assert "1 columns, 2 bits" in html
    assert len(make_table("long", {"words": "x" * 1000})) < 300


def test_gates_are_counted_by_level() -> None:
    kinds = CIRCUIT.count_gates()
    assert kinds.shape == (2, 16)
    assert (kinds[0, AND], kinds[0, XOR], kinds[1, XOR], kinds.sum(), kinds[:, OR].sum()) == (1, 1, 1, 3, 0)
    assert Circuit(1, [], [], [], [2], [0, 1]).count_gates().shape == (0, 16)


def test_circuits_are_plotted() -> None:
    require_module("matplotlib", "pip install -c constraints.txt matplotlib")
    figure = CIRCUIT.plot()
    (axes,) = figure.axes
    assert [patch.get_width() for patch in axes.patches] == [1, 0, 1, 1]  # AND, then XOR, of both levels
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="circuit must have gates to be plotted, got none"):
        Circuit(1, [], [], [], [2], [0, 1]).plot()


@pytest.mark.parametrize("values", [False, True])
def test_reports_are_plotted(values: bool) -> None:
    require_module("matplotlib", "pip install -c constraints.txt matplotlib")
    rows = list_rows()
    model = make_model(0, n_groups=1 if values else 2, values=values)
    y = np.random.default_rng(0).random(len(rows)) if values else ["a", "b"] * (len(rows) // 2)
    figure = model.report(rows[: len(y)], y).plot()
    titles = [axes.get_title().split()[0] for axes in figure.axes]
    assert titles == ["importance", *(["root", "residuals"] if values else ["accuracy", "calibration"])]
    with pytest.raises(ValueError, match="report must have been given a table to be plotted, got none"):
        model.report().plot()


def test_models_are_plotted() -> None:
    require_module("matplotlib", "pip install -c constraints.txt matplotlib")
    rows = list_rows()
    model = make_model(0, n_groups=3, values=True)
    truth = model.predict(rows)
    (axes,) = model.plot_importance(rows, truth).axes
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == sorted(widths)
    assert widths[-1] > 0
    (axes,) = model.plot_quality(rows, truth).axes
    assert [patch.get_width() for patch in axes.patches] == [1.0, 1.0, 1.0]  # R²
    (axes,) = model.plot_quality(rows, truth > 0).axes
    assert axes.get_xlabel() == "F1"
    with pytest.raises(ValueError, match="X must have rows to rate answers by, got none"):
        model.plot_quality(np.empty((0, 4)), truth[:0])
    with pytest.raises(ValueError, match="X must have at least two rows"):
        model.plot_importance(rows[:1])


def test_histories() -> None:
    require_module("torch", "pip install -c constraints.txt torch==2.13.0")
    from gatewise.train.history import History, Record

    record = Record(3, 10, 0.5, 0.01, 0.7, 0.89, 0.6, 0.9, 0.01, [[0] * 16])
    assert "<th>accuracy</th><td>0.8900</td>" in History([record])._repr_html_()
    assert "<td>0</td>" in History()._repr_html_()


def test_estimators_keep_the_diagram_of_scikit_learn() -> None:
    require_module("sklearn", "pip install -c constraints.txt scikit-learn")
    from gatewise import LogicClassifier

    assert "sk-estimator" in LogicClassifier()._repr_html_()
