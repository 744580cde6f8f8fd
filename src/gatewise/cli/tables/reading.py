"""Tables in files, CSV or Parquet, read a block of rows at a time or as a whole.

In: a path, or "-" for a CSV file on the standard input. Out: names of columns, and pyarrow tables of those asked for.
Invariant: what a cell means depends only on the cell and on the type of its column, so it does not matter where blocks
end.

Arrow reads in threads of its own, which outlive the call. One that holds a Python object takes Python's lock to let go
of it, and that aborts the process if Python is ending meanwhile. So Arrow is given nothing of Python: files are opened
by Arrow, and bytes are copied.
"""

import csv
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from gatewise.cli.options import Dialect
from gatewise.cli.tables.arrow import pa, pa_csv, pc, pq
from gatewise.cli.tables.pipes import read_whole_rows

MISSING = ("", "?", "#N/A", "N/A", "NA", "NaN", "None", "NULL", "n/a", "nan", "null")
"""What always spells a missing value in a CSV file."""

BLOCK_BYTES = 2**22  # of a CSV file; also the longest row
BLOCK_CELLS = 2**21  # of a Parquet file
PARQUET_SUFFIXES = (".parquet", ".pq")
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
"""How CSV files may be compressed, by the end of their names."""

Types: TypeAlias = Mapping[str, Any]
"""Arrow types by name of column: float64, bool or string, or None for a column that is taken as it is written."""


class CsvTable:
    """A CSV file whose first line names the columns.

    Parameters
    ----------
    file : binary file, buffered
        Read once, from front to back.
    source : str
        Its path, or what to call it in errors.
    dialect : Dialect
    """

    def __init__(self, file: io.BufferedReader, source: str, dialect: Dialect) -> None:
        self.source = source
        self._file = file
        self._dialect = dialect
        self._missing = [*MISSING, *dialect.missing]
        with self._explained():
            header = self._read_header()
        self.names = self._parse_header(header)
        self._header_bytes = len(header)

    def blocks(self, types: Types) -> Iterator[pa.Table]:
        """Consecutive rows of the columns in `types`, in that order; those of a pipe as soon as it pauses."""
        strings = [name for name, kind in types.items() if kind == pa.string()]
        options = self._options(self.schema(types))
        with self._explained():
            if os.path.isfile(self.source):
                batches = pa_csv.open_csv(self._rest(), **options) if self._file.peek(1) else ()
                tables = (pa.Table.from_batches([batch]) for batch in batches)
            else:
                pieces = read_whole_rows(self._file, BLOCK_BYTES, self._dialect.delimiter)
                tables = (pa_csv.read_csv(copy_to_arrow(piece), **options) for piece in pieces)
            for table in tables:
                yield self._mark_missing(table, strings)

    def read(self, names: Sequence[str]) -> pa.Table:
        """Read all rows of some columns; the type of a column follows from all of its cells."""
        with self._explained():
            if not self._file.peek(1):
                return pa.table({name: pa.nulls(0) for name in names})
            rest = self._rest() if os.path.isfile(self.source) else copy_to_arrow(self._file.read())
            table = pa_csv.read_csv(rest, **self._options(pa.schema([]), names))
        return self._mark_missing(table, [field.name for field in table.schema if field.type == pa.string()])

    def schema(self, types: Types) -> pa.Schema:
        """Names and types of the columns that `blocks` gives."""
        return pa.schema([(name, kind or pa.string()) for name, kind in types.items()])

    def _read_header(self) -> bytes:
        line = self._file.readline()
        while line.count(b'"') % 2 and (more := self._file.readline()):  # a name with a line break
            line += more
        return line

    def _parse_header(self, line: bytes) -> list[str]:
        try:
            text = line.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.source} must be a CSV file in UTF-8, got bytes that are not: {error}") from error
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=self._dialect.delimiter), [])
        if not names:
            raise ValueError(f"{self.source} must begin with a line that names its columns, got an empty one")
        if all(_is_number(name) for name in names):
            raise ValueError(
                f"the first line of {self.source} must name its columns, got numbers, {text.strip()!r:.60}; add a line"
            )
        return names

    def _rest(self) -> pa.NativeFile:
        """What follows the header: the file opened once more, for Arrow to read without Python."""
        file = pa.input_stream(self.source, compression=find_compression(self.source))
        file.read(self._header_bytes)
        return file

    def _options(self, schema: pa.Schema, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Arguments of pyarrow's readers.

        Strings are read as they are written: pyarrow's spellings of null would hold for all columns, even if they
        are only copied to the output. `_mark_missing` looks for them in the columns that the model reads.
        """
        return {
            "read_options": pa_csv.ReadOptions(column_names=self.names, block_size=BLOCK_BYTES),
            "parse_options": pa_csv.ParseOptions(
                delimiter=self._dialect.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(self.names) > 1,  # in a single column they are missing values
            ),
            "convert_options": pa_csv.ConvertOptions(
                column_types=schema,
                include_columns=schema.names if names is None else names,
                null_values=self._missing,
                strings_can_be_null=False,
            ),
        }

    def _mark_missing(self, table: pa.Table, names: Sequence[str]) -> pa.Table:
        spellings = pa.array(self._missing, pa.string())
        for name in names:
            column = table[name]
            known = pc.if_else(pc.is_in(column, value_set=spellings), pa.scalar(None, pa.string()), column)
            table = table.set_column(table.schema.get_field_index(name), name, known)
        return table

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of pyarrow in terms of the file and its columns, with what to do."""
        try:
            yield
        except OSError as error:
            raise ValueError(f"{self.source} cannot be read: {error}; check the file, or write it again") from error
        except pa.ArrowException as error:
            # Arrow names the row only if it reads in one thread.
            conversion = r"CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (\w+): (?:invalid value )?(.*)"
            found = re.search(conversion, str(error))
            if found is None:
                fix = "correct that row, or say what separates the cells by --delimiter"
                raise ValueError(f"{self.source} cannot be read as a CSV file: {error}; {fix}") from error
            name, kind, value = self.names[int(found[1])], {"double": "numbers"}.get(found[2], f"{found[2]}s"), found[3]
            raise ValueError(
                f"column {name!r} of {self.source} must hold {kind}, got {value}; "
                "correct it, or say --missing TEXT if it is the spelling of a missing value"
            ) from error


class ParquetTable:
    """A Parquet file. Missing values are its nulls.

    Parameters
    ----------
    file : file of Arrow
    source : str
        What to call it in errors.
    """

    def __init__(self, file: pa.NativeFile, source: str) -> None:
        self.source = source
        try:
            self._parquet = pq.ParquetFile(file)
        except pa.ArrowException as error:
            raise ValueError(f"{source} cannot be read as a Parquet file: {error}; write it again") from error
        self.names: list[str] = self._parquet.schema_arrow.names

    def blocks(self, types: Types) -> Iterator[pa.Table]:
        """Consecutive rows of the columns in `types`, in that order."""
        n_rows = max(1, BLOCK_CELLS // max(1, len(types)))
        for batch in self._parquet.iter_batches(n_rows, columns=list(types)):
            table = pa.Table.from_batches([batch])
            yield pa.table({name: self._conform(table[name], name, kind) for name, kind in types.items()})

    def read(self, names: Sequence[str]) -> pa.Table:
        """All rows of some columns."""
        table = self._parquet.read(columns=list(names))
        return pa.table({name: self._conform(table[name], name, None) for name in names})

    def schema(self, types: Types) -> pa.Schema:
        """Names and types of the columns that `blocks` gives."""
        table = self._parquet.schema_arrow.empty_table()
        return pa.table({name: self._conform(table[name], name, kind) for name, kind in types.items()}).schema

    def _conform(self, column: pa.ChunkedArray, name: str, wanted: Any) -> pa.ChunkedArray:
        """Bring a column into a type that an encoder takes for the wanted one: strings, numbers, dates of any type."""
        kind = column.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        if wanted is None or pa.types.is_null(kind):
            return column
        if pa.types.is_decimal(kind):
            column, kind = column.cast(pa.float64()), pa.float64()
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        is_string = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if pa.types.is_timestamp(wanted):
            is_like, expected = pa.types.is_timestamp(kind) or pa.types.is_date(kind), "dates"
        elif pa.types.is_duration(wanted):
            is_like, expected = pa.types.is_duration(kind), "durations"
        else:
            is_like, expected = (is_string, "strings") if wanted == pa.string() else (is_number, "numbers")
        if is_like:
            return column
        raise ValueError(f"column {name!r} of {self.source} must hold {expected}, got {kind}; convert it")


TableFile: TypeAlias = CsvTable | ParquetTable


@contextmanager
def open_table(path: str, dialect: Dialect) -> Iterator[TableFile]:
    """Open the table in a file: Parquet if its name ends in .parquet or .pq, otherwise CSV, compressed or not."""
    if path == "-":
        yield CsvTable(sys.stdin.buffer, "standard input", dialect)  # type: ignore[arg-type]
        return
    is_parquet = path.lower().endswith(PARQUET_SUFFIXES)
    if is_parquet and dialect.missing:
        raise ValueError(f"--missing must not be given for a Parquet file, whose missing values are nulls, got {path}")
    with open(path, "rb") as file:
        compression = find_compression(path)
        if is_parquet:
            with pa.OSFile(path) as native:
                yield ParquetTable(native, path)
        elif compression is None:
            yield CsvTable(file, path, dialect)
        else:
            with io.BufferedReader(pa.input_stream(path, compression=compression)) as text:
                yield CsvTable(text, path, dialect)


def copy_to_arrow(data: bytes) -> pa.NativeFile:
    """A file of the same bytes in memory that Arrow owns.

    Examples
    --------
    >>> copy_to_arrow(b"a,b").read()
    b'a,b'
    """
    stream = pa.BufferOutputStream()
    stream.write(data)
    return pa.BufferReader(stream.getvalue())


def find_compression(path: str) -> str | None:
    """How a file of that name is compressed; None if it is not.

    Examples
    --------
    >>> find_compression("table.csv.gz"), find_compression("table.csv")
    ('gzip', None)
    """
    return COMPRESSIONS.get(Path(path).suffix.lower())


def drop_missing(table: pa.Table, name: str) -> pa.Table:
    """Keep the rows that have a value in that column; NaN counts as missing."""
    return table.filter(pc.invert(table[name].is_null(nan_is_null=True)))


def check_columns(table: TableFile, wanted: Sequence[str]) -> None:
    """Raise ValueError unless the file has each of these columns exactly once."""
    counts = Counter(table.names)
    missing = [name for name in wanted if not counts[name]]
    if missing:
        listed = ", ".join(map(repr, missing))
        found = [mark for mark in (";", "\t", "|", ",") if len(table.names) == 1 and mark in table.names[0]]
        fix = f"; is the delimiter {found[0]!r}? say it by --delimiter" if found else ""
        raise ValueError(f"{table.source} must have a column {listed:.200}, got {', '.join(table.names):.200}{fix}")
    twice = [name for name in wanted if counts[name] > 1]
    if twice:
        raise ValueError(f"{table.source} must have one column {twice[0]!r}, got {counts[twice[0]]}; rename the others")


def check_output(output: str | None, inputs: Sequence[str | None]) -> None:
    """Raise ValueError if the output is one of the files that are read."""
    for path in inputs:
        if path and output and Path(path).exists() and Path(output).exists() and Path(output).samefile(path):
            raise ValueError(f"the output must be another file than {path}, which is read; choose another name")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
