"""What the site shows beside prose: a notebook as its cells give it, and a gallery of reports."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.small_models import list_rows, make_model
from support.tools import require_module

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
FACTS = sorted((ROOT / "docs" / "gallery").glob("*.json"))


@pytest.fixture(scope="module")
def hooks() -> Any:
    require_module("mkdocs", "pip install -c constraints.txt '.[docs]'")
    sys.path.insert(0, str(ROOT / "docs" / "site"))
    import hooks

    return hooks


def test_the_notebook_gives_what_it_shows() -> None:
    for package in ("nbclient", "ipykernel", "ipywidgets", "torch", "sklearn", "matplotlib", "pandas"):
        require_module(package, "pip install -c constraints.txt '.[test]'")
    import nbformat
    from scripts import execute_notebook

    shown = execute_notebook.list_kinds(nbformat.read(NOTEBOOK, as_version=4))
    given = execute_notebook.execute(NOTEBOOK)
    assert execute_notebook.list_kinds(given) == shown
    kinds = {kind for cell in shown for output in cell for kind in output}
    assert kinds == {"text/plain", "text/html", "image/png", "stdout", execute_notebook.WIDGET}


def test_cells_become_markdown(hooks: Any) -> None:
    page = "\n\n".join(hooks.show_cells(json.loads(NOTEBOOK.read_text())))
    assert page.startswith("# A notebook, executed\n")
    assert page.count("```python\n") == sum(
        cell["cell_type"] == "code" for cell in json.loads(NOTEBOOK.read_text())["cells"]
    )
    assert page.count('<img class="output"') == 4
    assert 'title="gatewise report" sandbox="allow-scripts"' in page
    assert "vnd.jupyter" not in page


def list_names(value: object) -> object:
    """The shape of JSON: the names in it, and of lists the shape of the first element."""
    if isinstance(value, dict):
        return {name: list_names(each) for name, each in value.items()}
    return [list_names(value[0])] if isinstance(value, list) and value and isinstance(value[0], dict) else None


@pytest.mark.parametrize("path", FACTS, ids=lambda path: path.stem)
def test_facts_of_the_gallery_are_those_of_reports(path: Path) -> None:
    facts = json.loads(path.read_text())
    rows = list_rows()
    fresh = json.loads(make_model(0).report(rows, ["a", "b"] * (len(rows) // 2)).to_json())
    for name in ("model", "circuit", "quality", "sample"):
        assert list_names(facts[name]) == list_names(fresh[name])
    assert facts.keys() == fresh.keys()
    assert facts["columns"][0].keys() == fresh["columns"][0].keys()


def test_the_gallery_is_whole() -> None:
    assert [path.stem for path in FACTS] == ["adult", "digits", "mnist"]


def test_pages_of_the_gallery_are_reports(hooks: Any) -> None:
    before, after = hooks.REPORT.read_text().split(hooks.SLOT)
    assert before.endswith('id="facts">')
    assert after.startswith("</script>")
