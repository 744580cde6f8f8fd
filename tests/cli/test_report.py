"""`gatewise report`: files, options, and errors."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli_files import Folder, call_fails
from support.tools import require_module

require_module("pyarrow", "pip install -c constraints.txt '.[cli]'")

from gatewise.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(tmp_path_factory.mktemp("report"))


@pytest.fixture(autouse=True)
def _in_folder(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.path)


def read_facts(path: str) -> dict[str, Any]:
    """What a page says, as it stands in the page."""
    _, _, rest = Path(path).read_text().partition('id="facts">')
    facts: dict[str, Any] = json.loads(rest.partition("</script>")[0])
    return facts


def test_page_of_classes(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    Path("proof.json").write_text('{"question": "always", "status": "proved"}')
    Path("history.json").write_text("[]")
    options = ["--title", "Who is old", "--proof", "proof.json", "--history", "history.json", "-o", "page.html"]
    assert main(["report", "classes.gw", "data.csv", "--target", "label", *options, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"path": "page.html", "bytes": Path("page.html").stat().st_size, "left_out": []}
    facts = read_facts("page.html")
    assert facts["title"] == "Who is old"
    assert facts["proofs"] == [{"question": "always", "status": "proved"}]
    assert facts["commands"][0].startswith("gatewise report classes.gw data.csv --target label --output page.html")
    accuracy = (folder.classifier.predict(folder.features) == folder.table["label"].to_numpy()).mean()
    assert facts["quality"]["accuracy"] == pytest.approx(accuracy)


def test_page_of_values_without_options(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "values.gw"]) == 0
    assert capsys.readouterr().out.startswith("values.html: ")
    assert read_facts("values.html")["title"] == "values"
    assert main(["report", "values.gw", "data.parquet", "--target", "value"]) == 0
    assert read_facts("values.html")["quality"]["n_rows"] == folder.table.num_rows
    assert main(["report", "values.gw", "data.parquet"]) == 0
    assert "No true answers were given" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["classes.gw", "--target", "label"], "--target must be a column of a file, got 'label' and no file"),
        (["classes.gw", "data.csv", "--target", "age"], "--target must be a column that the model does not read, got"),
        (["classes.gw", "data.csv", "--target", "id"], "y must hold classes of the model, old, young, got '00000'"),
        (["classes.gw", "--image", "28"], "--image must be a height and a width, such as 28x28, got '28'"),
        (["classes.gw", "--image", "28x28"], "image must be a height and a width of 4 pixels, got (28, 28)"),
        (["classes.gw", "--proof", "list.json"], "list.json must hold a JSON dict, got a list"),
        (["classes.gw", "data.csv", "--target", "nothing"], "'nothing'"),
    ],
)
def test_errors(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("list.json").write_text("[]")
    assert message in call_fails(capsys, "report", *argv)
