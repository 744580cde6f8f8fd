"""Standard input that pauses, compressed files, and what a signal leaves behind."""

import bz2
import gzip
import io
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import hypothesis
import pyarrow as pa
import pytest
from hypothesis import strategies as st
from support.cli_files import FEATURES, Folder, call_fails, command, read_csv

from gatewise.cli import main
from gatewise.cli.tables import reading
from gatewise.cli.tables.pipes import read_whole_rows

CELLS = st.sampled_from(["", "1", "a b", '"q"', '"two\nlines"', '"a ""b"""', '5" pipe', '""', 'x"', '",\n"'])


class Trickle(io.RawIOBase):
    """A file that gives a few bytes at a time."""

    def __init__(self, text: bytes, sizes: list[int]) -> None:
        self._file, self._sizes = io.BytesIO(text), sizes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._sizes.pop() if self._sizes else len(buffer)
        return self._file.readinto(memoryview(buffer)[:size])


@hypothesis.given(
    rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=8),
    sizes=st.lists(st.integers(1, 7), max_size=20),
    max_bytes=st.sampled_from([60, 1000]),
)
def test_pieces_end_where_rows_do(rows: list[list[str]], sizes: list[int], max_bytes: int) -> None:
    lines = [",".join(row).encode() + b"\n" for row in rows]
    ends = {sum(map(len, lines[:i])) for i in range(len(lines) + 1)}
    pieces = list(read_whole_rows(io.BufferedReader(Trickle(b"".join(lines), sizes), 8), max_bytes, ","))
    assert b"".join(pieces) == b"".join(lines)
    assert all(pieces)
    assert {sum(map(len, pieces[:i])) for i in range(len(pieces) + 1)} <= ends


def test_a_quote_that_is_never_closed_is_refused() -> None:
    file = io.BufferedReader(io.BytesIO(b'1,2\n3,"' + b"x" * 200))
    with pytest.raises(ValueError, match=r"rows must be shorter than 100 bytes, got a longer one .*never closed"):
        list(read_whole_rows(file, 100, ","))


def start(*argv: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command(*argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )


def test_rows_are_answered_when_the_input_pauses(folder: Folder) -> None:
    labels = folder.classifier.predict(folder.features).tolist()
    lines = Path("data.csv").read_bytes().replace(b'"two\nlines"', b'"two\\lines"').splitlines(keepends=True)
    lines = [line.replace(b"two\\lines", b"two\nlines") for line in lines]
    with start("predict", "classes.gw", "-", "--keep", "id") as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(lines[0])
        assert process.stdout.readline() == b"id,prediction\n"
        for first, end in ((0, 1), (1, 3), (3, 60)):
            process.stdin.write(b"".join(lines[1 + first : 1 + end]))
            answers = [process.stdout.readline().decode() for _ in range(first, end)]
            assert answers == [f'"{i:05d}","{labels[i]}"\n' for i in range(first, end)]
        process.stdin.write(b"".join(lines[61:]).rstrip(b"\n"))
        process.stdin.close()
        assert len(process.stdout.readlines()) == len(labels) - 60
        assert process.wait(60) == 0


def test_the_standard_input_gives_what_the_file_gives(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any
) -> None:
    text = Path("data.csv").read_bytes()
    monkeypatch.setattr(reading, "BLOCK_BYTES", 900)
    for sizes in ([], [1, 2, 3] * 100):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Trickle(text, list(sizes)), 64)))
        assert main(["predict", "classes.gw", "-"]) == 0
        Path("out.csv").write_bytes(capfdbinary.readouterr().out)
        assert read_csv("out.csv")["prediction"].to_pylist() == folder.classifier.predict(folder.features).tolist()


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
def test_compressed_files(folder: Folder, capsys: pytest.CaptureFixture[str], suffix: str) -> None:
    expected = folder.classifier.predict(folder.features).tolist()
    text = Path("data.csv").read_bytes()
    compress = {
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    }
    Path(f"data.csv{suffix}").write_bytes(compress[suffix](text))
    assert main(["predict", "classes.gw", f"data.csv{suffix}", "-o", f"out.csv{suffix}", "--keep", "work"]) == 0
    with pa.input_stream(f"out.csv{suffix}") as stream:
        Path("out.csv").write_bytes(stream.read())
    assert read_csv("out.csv")["prediction"].to_pylist() == expected
    assert main(["evaluate", "classes.gw", f"data.csv{suffix}", "--target", "label"]) == 0
    assert "on 400 rows of data.csv" in capsys.readouterr().out
    Path(f"broken.csv{suffix}").write_bytes(compress[suffix](text)[:-2000])
    message = call_fails(capsys, "predict", "classes.gw", f"broken.csv{suffix}", "-o", "never.csv")
    assert message.startswith(f"gatewise predict: broken.csv{suffix} cannot be read: ")
    Path(f"plain.csv{suffix}").write_bytes(text)
    message = call_fails(capsys, "predict", "classes.gw", f"plain.csv{suffix}", "-o", "never.csv")
    assert message.startswith(f"gatewise predict: plain.csv{suffix} cannot be read: ")
    assert not Path("never.csv").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_no_file(folder: Folder, number: int) -> None:
    code = (  # as on systems whose files always have a name
        "import sys; from gatewise.store import files; files._open_unnamed = lambda _: None\n"
        "from gatewise.cli import main; sys.exit(main(['predict', 'classes.gw', '-', '-o', 'out.csv']))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin
        process.stdin.write(",".join(FEATURES).encode() + b"\n1,private,true,2\n")
        deadline = time.monotonic() + 60
        while not (written := list(folder.path.glob(".gatewise*"))) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert written
        process.send_signal(number)
        assert process.wait(60) == (130 if number == signal.SIGINT else 143)
    assert not list(folder.path.glob(".gatewise*"))
    assert not Path("out.csv").exists()
