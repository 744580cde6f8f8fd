"""Pages of the site that are made when it is built: live reports from their facts, and notebooks as they were executed.

In: `docs/gallery/*.json`, as `Report.to_json` gives it, and `docs/*.ipynb` with outputs. Out: HTML pages, and pages in
Markdown. Nothing is executed here.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

REPORT = Path(__file__).parents[2] / "src" / "gatewise" / "report" / "page.html"
SLOT = "{}<!--facts-->"


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add what is made of facts and of notebooks, in place of these."""
    before, after = REPORT.read_text("utf-8").split(SLOT)
    for file in list(files):
        path = Path(file.src_uri)
        if path.parent.name == "gallery" and path.suffix == ".json":
            made = File.generated(
                config, str(path.with_suffix(".html")), content=before + file.content_string.strip() + after
            )
        elif path.suffix == ".ipynb":
            text = "\n\n".join(show_cells(json.loads(file.content_string)))
            made = File.generated(config, str(path.with_suffix(".md")), content=text)
        else:
            continue
        files.remove(file)
        files.append(made)
    return files


def show_cells(notebook: dict[str, Any]) -> Iterator[str]:
    """Cells and their outputs as Markdown."""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
            continue
        yield f"```python\n{source}\n```"
        for output in cell["outputs"]:
            yield from show_output(output)


def show_output(output: dict[str, Any]) -> Iterator[str]:
    """The richest form that a page can show; progress bars are left to the notebook."""
    if output["output_type"] == "stream":
        if output["name"] == "stdout":
            yield f"```text\n{''.join(output['text']).rstrip()}\n```"
        return
    data = {kind: "".join(content) for kind, content in output["data"].items() if isinstance(content, list | str)}
    if "application/vnd.jupyter.widget-view+json" in output["data"]:
        return
    if "text/html" in data:
        yield f'<div class="output">{data["text/html"]}</div>'
    elif "image/png" in data:
        encoded = data["image/png"].replace("\n", "")
        yield f'<img class="output" alt="the figure that the cell shows" src="data:image/png;base64,{encoded}">'
    else:
        yield f"```text\n{data['text/plain']}\n```"
