"""pyarrow, or how to get it."""

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq
except ModuleNotFoundError as error:
    message = "reading and writing tables needs pyarrow: pip install 'gatewise[cli]'"
    raise ModuleNotFoundError(message, name="pyarrow") from error

__all__ = ["pa", "pa_csv", "pc", "pq"]
