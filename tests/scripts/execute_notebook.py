"""Executes a notebook in a kernel of its own and writes it with what its cells gave: `python execute_notebook.py FILE`.

Times, widgets' state and what else differs from run to run is left out, so that a second run changes little.
"""

import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

SECONDS = 300
WIDGET = "application/vnd.jupyter.widget-view+json"


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with its outputs; raises CellExecutionError if a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(
            notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}}
        ).execute(cleanup_kc=True)
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            if WIDGET in output.get("data", {}):
                output.data[WIDGET]["model_id"] = ""
    return notebook


def list_kinds(notebook: nbformat.NotebookNode) -> list[list[list[str]]]:
    """Of each cell the kinds of its outputs."""
    return [
        [sorted(output.get("data", {output.get("name", output.output_type): ""})) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def main() -> None:
    path = Path(sys.argv[1])
    nbformat.write(execute(path), path)


if __name__ == "__main__":
    main()
