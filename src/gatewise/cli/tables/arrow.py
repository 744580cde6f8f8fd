"""pyarrow, or how to get it."""

# ruff: noqa: E402 (a package that is missing is named before anything imports it)

from gatewise.extras import require

require("pyarrow", "cli", needed_by="reading and writing tables")

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

__all__ = ["pa", "pa_csv", "pc", "pq"]
