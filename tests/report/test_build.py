"""The page that is committed is the build of its sources, which set strings as text and name no host."""

import re
import subprocess
from pathlib import Path

from support.tools import give_up, require_tool

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src/page"
PAGE = ROOT / "src/gatewise/report/page.html"


def test_page_is_the_build_of_its_sources() -> None:
    node = require_tool("node", "apt-get install nodejs")
    if not (SOURCES / "node_modules").is_dir():
        give_up("esbuild is not installed; get it with: make page")
    done = subprocess.run([node, "build.mjs", "--check"], cwd=SOURCES, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_sources_never_make_markup_of_strings() -> None:
    text = "".join(path.read_text() for path in sorted((SOURCES / "src").glob("*.ts")))
    assert len(text) > 10_000
    assert not re.findall(r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|Function)\b\(?", text)


def test_nothing_names_a_host() -> None:
    assert "resolved" not in (SOURCES / "package-lock.json").read_text()
    hosts = set(re.findall(r"https?://[^\s\"'`)]+", PAGE.read_text()))
    assert hosts == {"http://www.w3.org/2000/svg"}  # a namespace, which nobody asks for
