"""Every command and every piece of Python in the pages of the documentation runs, in order, in one folder a page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools import require_module, require_tool

require_module("torch", "pip install 'gatewise[torch]'")
require_module("sklearn", "pip install 'gatewise[sklearn]'")

ROOT = Path(__file__).parent.parent
PAGES = ["tutorial.md", *(f"export-{target}.md" for target in ("c", "cuda", "wasm", "aiger", "onnx", "verilog"))]
TOOLS = {
    "export-cuda.md": {"g++": "apt-get install g++"},
    "export-wasm.md": {"node": "apt-get install nodejs"},
    "export-verilog.md": {"iverilog": "apt-get install iverilog"},
}


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for tool, install in TOOLS.get(page, {}).items():
        require_tool(tool, install)
    blocks = re.findall(r"```(sh|python)\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    assert blocks
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    namespace: dict[str, object] = {}
    for kind, code in blocks:
        if kind == "python":
            exec(code, namespace)
            continue
        done = subprocess.run(["sh", "-ec", code], env=os.environ | {"PATH": path}, capture_output=True, text=True)
        assert done.returncode == 0, f"{code}\n{done.stderr}"
