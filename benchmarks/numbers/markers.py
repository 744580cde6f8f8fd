"""Markers in pages: what stands between them, and measured numbers that stand outside.

In: the text of a page. Out: the text with every marked place filled anew; measured numbers that no record stands for.
"""

import re
from collections.abc import Callable, Iterator

MARKED = re.compile(r"<!--([a-z_]+/[\w/.-]+)-->(.*?)<!--end-->", re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
UNITS = r"ns|µs|ms|s|min|h|[KMG]B|GHz|times|million|seconds|minutes|hours|rows/s|(?:rows|images) per second"
NUMBER = r"\d+(?:[.,]\d+)*"
MEASURED = re.compile(
    rf"(?<![\w.×-]){NUMBER}(?:\s?[–±/]\s?{NUMBER}|\s(?:to|and)\s{NUMBER})*\s?(?:%|×(?!\s?\d)|(?:{UNITS})\b)"
)


def fill(text: str, value_of: Callable[[str], str]) -> str:
    """The page with what every pair of markers stands for now; tables get lines of their own."""

    def replace(match: re.Match[str]) -> str:
        value = value_of(match[1])
        inner = f"\n{value}\n" if "\n" in match[2] else value
        return f"<!--{match[1]}-->{inner}<!--end-->"

    return MARKED.sub(replace, text)


def names(text: str) -> list[str]:
    """What the markers of a page name, in order."""
    return [match[1] for match in MARKED.finditer(text)]


def unmarked_numbers(text: str) -> Iterator[str]:
    """Numbers with a unit of measurement that stand outside markers, each with the line around it.

    Blocks of code do not count: they are run by the tests, or show what a command prints on the reader's machine.
    """
    bare = MARKED.sub("", FENCED.sub("", text))
    for line in bare.splitlines():
        for match in MEASURED.finditer(line):
            yield f"{match[0].strip()} in {line.strip()!r}"


def misplaced(text: str) -> Iterator[str]:
    """Markers that begin a line of a paragraph: Markdown takes them for a block, and the paragraph ends there."""
    for match in MARKED.finditer(text):
        is_at_start = match.start() == 0 or text[match.start() - 1] == "\n"
        if is_at_start and "\n" not in match[2]:
            yield match[1]
