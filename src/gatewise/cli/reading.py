"""Tables in files, CSV or Parquet, read a block of rows at a time or as a whole.

In: a path, or "-" for a CSV file on the standard input. Out: names of columns, and pyarrow tables of those asked for.
Invariant: with a type for each column, what a cell means depends on nothing but that type and the cell, so it does not
matter where blocks end.
"""

import csv
import io
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from gatewise.cli.arrow import pa, pa_csv, pc, pq
from gatewise.cli.options import Dialect

MISSING = ("", "?", "#N/A", "N/A", "NA", "NaN", "None", "NULL", "n/a", "nan", "null")
"""What always spells a missing value in a CSV file."""

BLOCK_BYTES = 2**22  # of a CSV file; also the longest row
BLOCK_CELLS = 2**21  # of a Parquet file
MAX_WAIT = 1.0  # seconds
PARQUET_SUFFIXES = (".parquet", ".pq")

Types: TypeAlias = Mapping[str, Any]
"""Arrow types by name of column: float64, bool or string, or None for a column that is taken as it is written."""


class CsvTable:
    """A CSV file whose first line names the columns.

    Parameters
    ----------
    file : binary file, buffered
        Read once, from front to back.
    source : str
        What to call it in errors.
    dialect : Dialect
    """

    def __init__(self, file: io.BufferedReader, source: str, dialect: Dialect) -> None:
        self.source = source
        self._file = file
        self._dialect = dialect
        self._missing = [*MISSING, *dialect.missing]
        self.names = self._read_header()

    def blocks(self, types: Types) -> Iterator[pa.Table]:
        """Consecutive rows of the columns in `types`, in that order."""
        with self._explained(), self._released():
            if not self._file.peek(1):
                return
            strings = [name for name, kind in types.items() if kind == pa.string()]
            for batch in pa_csv.open_csv(self._rest(), **self._options(self.schema(types))):
                yield self._mark_missing(pa.Table.from_batches([batch]), strings)

    def read(self, names: Sequence[str]) -> pa.Table:
        """All rows of some columns, their types told from all of their cells."""
        with self._explained(), self._released():
            if not self._file.peek(1):
                return pa.table({name: pa.nulls(0) for name in names})
            table = pa_csv.read_csv(self._rest(), **self._options(pa.schema([]), names))
        return self._mark_missing(table, [field.name for field in table.schema if field.type == pa.string()])

    def schema(self, types: Types) -> pa.Schema:
        """Names and types of the columns that `blocks` gives."""
        return pa.schema([(name, kind or pa.string()) for name, kind in types.items()])

    def _read_header(self) -> list[str]:
        line = self._file.readline()
        while line.count(b'"') % 2 and (more := self._file.readline()):  # a name with a line break
            line += more
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

    def _rest(self) -> Any:
        """What follows the header; a file is opened once more, for Arrow to read without Python."""
        if not os.path.isfile(self.source):
            return self._file
        file = pa.OSFile(self.source)
        file.seek(self._file.tell())
        return file

    @contextmanager
    def _released(self) -> Iterator[None]:
        """Waits at the end for Arrow's threads to let go of a pipe.

        They take Python's lock for that, which would abort the process if Python had ended in the meantime.
        """
        n_references = sys.getrefcount(self._file)
        try:
            yield
        finally:
            deadline = time.monotonic() + MAX_WAIT
            while sys.getrefcount(self._file) > n_references and time.monotonic() < deadline:
                time.sleep(0.001)

    def _options(self, schema: pa.Schema, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Arguments of pyarrow's readers. Strings are read as they are, because null spellings hold for all columns."""
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
        except pa.ArrowException as error:
            found = re.search(r"CSV column #(\d+): CSV conversion error to (\w+): (?:invalid value )?(.*)", str(error))
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
    file : binary file
    source : str
        What to call it in errors.
    """

    def __init__(self, file: BinaryIO, source: str) -> None:
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
        """The column in a type that an encoder takes for the wanted one; any number does for a number or a bool."""
        kind = column.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        if wanted is None or pa.types.is_null(kind):
            return column
        if pa.types.is_decimal(kind):
            column, kind = column.cast(pa.float64()), pa.float64()
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        is_string = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if is_string if wanted == pa.string() else is_number:
            return column
        expected = "strings" if wanted == pa.string() else "numbers"
        raise ValueError(f"column {name!r} of {self.source} must hold {expected}, got {kind}; convert it")


TableFile: TypeAlias = CsvTable | ParquetTable


@contextmanager
def open_table(path: str, dialect: Dialect) -> Iterator[TableFile]:
    """The table in a file: Parquet if its name ends in .parquet or .pq, otherwise CSV."""
    if path == "-":
        yield CsvTable(sys.stdin.buffer, "standard input", dialect)  # type: ignore[arg-type]
        return
    is_parquet = path.lower().endswith(PARQUET_SUFFIXES)
    if is_parquet and dialect.missing:
        raise ValueError(f"--missing must not be given for a Parquet file, whose missing values are nulls, got {path}")
    with open(path, "rb") as file:
        yield ParquetTable(file, path) if is_parquet else CsvTable(file, path, dialect)


def drop_missing(table: pa.Table, name: str) -> pa.Table:
    """The rows that have a value in that column; NaN is none."""
    return table.filter(pc.invert(table[name].is_null(nan_is_null=True)))


def check_columns(table: TableFile, wanted: Sequence[str]) -> None:
    """Raise ValueError unless the file has each of these columns, once."""
    counts = Counter(table.names)
    missing = [name for name in wanted if not counts[name]]
    if missing:
        listed = ", ".join(map(repr, missing))
        raise ValueError(f"{table.source} must have a column {listed:.200}, got {', '.join(table.names):.200}")
    twice = [name for name in wanted if counts[name] > 1]
    if twice:
        raise ValueError(f"{table.source} must have one column {twice[0]!r}, got {counts[twice[0]]}; rename the others")


def check_output(output: str | None, inputs: Sequence[str | None]) -> None:
    """Raise ValueError if a file that is read would be written."""
    for path in inputs:
        if path and output and Path(path).exists() and Path(output).exists() and Path(output).samefile(path):
            raise ValueError(f"the output must be another file than {path}, which is read; choose another name")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
