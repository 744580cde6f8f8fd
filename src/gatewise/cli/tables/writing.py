"""Tables written to files, CSV or Parquet, a block of rows at a time.

In: a path, a schema, and pyarrow tables. Out: the number of rows written.
Invariant: a file is written as a whole or not at all; what goes to the standard output is passed on block by block.
"""

import csv
import io
import os
import sys
from collections.abc import Iterable
from typing import Any, BinaryIO

from gatewise.cli.tables.arrow import pa, pa_csv, pq
from gatewise.cli.tables.reading import PARQUET_SUFFIXES, find_compression
from gatewise.store.files import replacing


def write_table(path: str | None, schema: pa.Schema, blocks: Iterable[pa.Table]) -> int:
    """Write blocks of that schema to a file, or to the standard output, as CSV, if there is none or it is "-"."""
    if path is None or path == "-":
        return _write_csv(sys.stdout.buffer, schema, blocks)
    compression = find_compression(path)
    with replacing(path) as file:
        if path.lower().endswith(PARQUET_SUFFIXES):
            return _write_parquet(file, schema, blocks)
        if compression is None:
            return _write_csv(file, schema, blocks)
        # A copy of the handle, because pyarrow closes what it has written to.
        with os.fdopen(os.dup(file.fileno()), "wb") as copy, pa.CompressedOutputStream(copy, compression) as compressed:
            return _write_csv(compressed, schema, blocks)


def _write_csv(file: Any, schema: pa.Schema, blocks: Iterable[pa.Table]) -> int:
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(schema.names)
    file.write(header.getvalue().encode())
    file.flush()
    n_rows = 0
    for block in blocks:
        # Through memory, because pyarrow would close the standard output at the end.
        text = pa.BufferOutputStream()
        pa_csv.write_csv(block, text, pa_csv.WriteOptions(include_header=False))
        file.write(text.getvalue())
        file.flush()
        n_rows += block.num_rows
    return n_rows


def _write_parquet(file: BinaryIO, schema: pa.Schema, blocks: Iterable[pa.Table]) -> int:
    n_rows = 0
    with pq.ParquetWriter(file, schema) as writer:
        for block in blocks:
            writer.write_table(block)
            n_rows += block.num_rows
    return n_rows
