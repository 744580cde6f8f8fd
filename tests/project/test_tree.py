"""The tree shows the picture: folders that one can take in at a glance, and files that one can read at a sitting."""

import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_FILES, MAX_LINES = 15, 400
CODE = {".py", ".pyi", ".cpp", ".hpp", ".ts", ".mjs", ".css", ".c", ".h", ".cu"}


def list_files(*folders: str) -> list[Path]:
    """Files of the repository, in it or about to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [Path(name) for name in names if name and (ROOT / name).exists()]


def test_no_folder_of_the_package_is_crowded() -> None:
    sizes = Counter(path.parent for path in list_files("src"))
    assert len(sizes) > 40
    assert {str(folder): n for folder, n in sizes.items() if n > MAX_FILES} == {}


def test_no_file_is_long() -> None:
    code = [path for path in list_files("src", "tests", "benchmarks", "experiments", "examples") if path.suffix in CODE]
    lines = {str(path): (ROOT / path).read_text().count("\n") for path in code}
    assert len(lines) > 500
    assert {path: n for path, n in lines.items() if n > MAX_LINES} == {}
    assert sorted(lines.values())[len(lines) // 2] < 130
