"""CSV text from a pipe, passed on whenever the pipe pauses.

In: a binary file that may keep its reader waiting. Out: pieces of its text that end where rows end.
Invariant: the pieces, one after the other, are the text.
"""

import io
import re
import select
from collections.abc import Iterator

PAUSE = 0.01  # seconds without input after which the rows that are there are passed on


def read_whole_rows(file: io.BufferedReader, max_bytes: int, delimiter: str) -> Iterator[bytes]:
    """Read rows as soon as they are there, in pieces of about `max_bytes` if they come fast.

    Parameters
    ----------
    file : binary file
        Begins with a row.
    max_bytes : int
        No row may be longer.
    delimiter : str
        What separates the cells.

    Yields
    ------
    bytes
        One or more rows; only the last piece may lack the line break at its end.

    Examples
    --------
    >>> file = io.BufferedReader(io.BytesIO(b'1,"two\\nlines"\\n3,4'))
    >>> list(read_whole_rows(file, 100, ","))
    [b'1,"two\\nlines"\\n', b'3,4']
    """
    rows = _match_rows(delimiter)
    text = b""
    while more := _read_until_pause(file, max_bytes):
        text += more
        complete = rows.match(text)
        end = complete.end() if complete else 0
        if end:
            yield text[:end]
        text = text[end:]
        if len(text) > max_bytes:
            raise ValueError(
                f"rows must be shorter than {max_bytes:,} bytes, got a longer one that begins with {text[:40]!r}; "
                "look for a quote that is never closed"
            )
    if text:
        yield text


def _read_until_pause(file: io.BufferedReader, max_bytes: int) -> bytes:
    data = bytearray(file.read1(max_bytes))
    while 0 < len(data) < max_bytes and _is_ready(file):
        more = file.read1(max_bytes - len(data))
        if not more:
            break
        data += more
    return bytes(data)


def _is_ready(file: io.BufferedReader) -> bool:
    """Whether more can be read within a moment; files that cannot tell never pause."""
    try:
        return bool(select.select([file], [], [], PAUSE)[0])
    except (OSError, ValueError):
        return True


def _match_rows(delimiter: str) -> re.Pattern[bytes]:
    """A pattern for as many complete rows as there are.

    A quote opens a cell only at its beginning, and two quotes inside of it are one. No repetition gives anything back
    (``+`` after another quantifier), so that matching takes time in proportion to the text.
    """
    rest = rb"[^%b\n]*+" % re.escape(delimiter.encode())
    cell = rb'(?:"(?:[^"]++|"")*+"%b|(?!")%b)' % (rest, rest)
    return re.compile(rb"(?:(?:%b%b)*+%b\n)*+" % (cell, re.escape(delimiter.encode()), cell))
