"""How tables are opened: Arrow's threads, which outlive a call and may outlive Python, get nothing of Python."""

import gzip
import io
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from gatewise.cli.options import Dialect
from gatewise.cli.tables import reading

TEXT = b"a,b\n1,x\n2,y\n"
SOURCES = ("table.csv", "table.csv.gz", "table.parquet", "-")


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[pa.NativeFile]:
    """What Arrow's readers are given, in a folder with all sources."""
    files: list[pa.NativeFile] = []

    def spy(module: Any, name: str) -> None:
        call = getattr(module, name)

        def record(file: pa.NativeFile, *args: Any, **options: Any) -> Any:
            files.append(file)
            return call(file, *args, **options)

        monkeypatch.setattr(module, name, record)

    spy(reading.pa_csv, "open_csv")
    spy(reading.pa_csv, "read_csv")
    spy(reading.pq, "ParquetFile")
    return files


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same table in every way that it can come."""
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_bytes(TEXT)
    Path("table.csv.gz").write_bytes(gzip.compress(TEXT))
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(io.BytesIO(TEXT)), "table.parquet")
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(TEXT)))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdin", stdin)


@pytest.mark.parametrize("by_blocks", [False, True])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.usefixtures("sources")
def test_arrow_is_given_nothing_of_python(source: str, by_blocks: bool, given: list[pa.NativeFile]) -> None:
    with reading.open_table(source, Dialect(",", ())) as table:
        if by_blocks:
            rows = pa.concat_tables(table.blocks({"a": pa.float64(), "b": pa.string()}))
        else:
            rows = table.read(["a", "b"])
    assert rows.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}
    assert given
    for file in given:
        assert isinstance(file, pa.OSFile | pa.BufferReader | pa.CompressedInputStream)
        if isinstance(file, pa.BufferReader):
            file.seek(0)
            assert file.read_buffer().parent.is_mutable  # memory of Arrow is, bytes of Python are not
