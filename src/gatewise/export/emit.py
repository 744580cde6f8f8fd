"""What all targets write with: lines with indentation, numbers that survive other languages, and packages.

In: text, floats. Out: source text, and folders of files.
Invariant: what is written depends on the arguments only; numbers read back exactly.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import TypeAlias

from gatewise.files import replace_folder

Package: TypeAlias = dict[str, bytes]
"""Content of each file of a folder, by name."""

LINE_WIDTH = 116


class Writer:
    """Lines of text, indented by the blocks that they are in.

    Examples
    --------
    >>> writer = Writer()
    >>> with writer.block("int main(void) {", "}"):
    ...     writer.line("return 0;")
    >>> print(writer.text(), end="")
    int main(void) {
      return 0;
    }
    """

    def __init__(self, indent: str = "  ") -> None:
        self._lines: list[str] = []
        self._indent = indent
        self._depth = 0

    def line(self, text: str = "") -> None:
        """Add a line."""
        self._lines.append(f"{self._indent * self._depth}{text}" if text else "")

    def lines(self, text: str) -> None:
        """Add several lines, which keep the indentation they have among each other."""
        for line in text.strip("\n").split("\n"):
            self.line(line)

    def section(self, text: str) -> None:
        """Add several lines behind an empty one."""
        self.line()
        self.lines(text)

    @contextmanager
    def block(self, opening: str, closing: str) -> Iterator[None]:
        """Lines that stand further right, between two that do not."""
        self.line(opening)
        self._depth += 1
        yield
        self._depth -= 1
        self.line(closing)

    def wrap(self, items: Iterable[str]) -> None:
        """Add items with commas between them, as many to a line as fit."""
        line = ""
        for item in items:
            if line and len(line) + len(item) + 2 > LINE_WIDTH:
                self.line(line.rstrip())
                line = ""
            line += f"{item}, "
        if line:
            self.line(line.rstrip(" ,"))

    def text(self) -> str:
        """All lines."""
        return "\n".join(self._lines) + "\n"


def format_float(value: float) -> str:
    """A finite float64 as a literal of C99: in decimal where a short one is exact, else in hexadecimal.

    Examples
    --------
    >>> format_float(18.5), format_float(0.1), format_float(-2.0)
    ('18.5', '0x1.999999999999ap-4', '-2.0')
    """
    text = repr(float(value))
    return text if len(text) < 16 and Decimal(text) == Decimal(value) else float(value).hex()


def save_package(package: Mapping[str, bytes], folder: str | os.PathLike[str]) -> None:
    """Write an export to a folder, all files or none.

    Parameters
    ----------
    package : dict of file name to bytes
        What a `to_...` function gives.
    folder : path
        Must not exist, or hold nothing but files of these names, which are replaced.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     save_package({"a.txt": b"content"}, f"{parent}/out")
    ...     os.listdir(f"{parent}/out")
    ['a.txt']
    """
    replace_folder(folder, package)
