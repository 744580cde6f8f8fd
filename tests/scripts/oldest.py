"""Prints constraints.txt with the lower bounds of pyproject.toml in place of the versions of what users install."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
USED = ("torch", "sklearn", "pandas", "cli", "plot", "tensorboard", "export")  # the other extras bring tools


def read_lower_bounds() -> dict[str, str]:
    """The oldest version that is allowed of each package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(package for extra in USED for package in extras[extra])]
    return dict(package.split(">=") for package in wanted if ">=" in package)


def main() -> None:
    oldest = read_lower_bounds()
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        name, pinned, version = line.partition("==")
        print(f"{name}=={oldest.pop(name, version)}" if pinned else line)
    assert not oldest, f"constraints.txt must name every package, got none of {sorted(oldest)}"


if __name__ == "__main__":
    main()
