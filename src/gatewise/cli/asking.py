"""What a model asks of a file: which columns, in which order, and as which types.

In: the parts of a model, and a table file. Out: names and Arrow types.
Invariant: types follow from the model alone, so no cell of a file can change how another one is read.
"""

from collections.abc import Sequence
from typing import Any

from gatewise.cli.tables.arrow import pa
from gatewise.cli.tables.reading import TableFile, check_columns
from gatewise.encode import Categorical, Encoder, Numeric, Timed
from gatewise.heads import Classes, Head


def find_features(encoder: Encoder, table: TableFile, others: Sequence[str]) -> list[str]:
    """Find the columns of a file that a model reads, in the model's order.

    A model whose columns have names finds them by name. Any other model reads all columns but `others`.
    """
    if encoder.named:
        check_columns(table, encoder.table_names)
        return list(encoder.table_names)
    names = [name for name in table.names if name not in others]
    if len(names) != len(encoder.table_names):
        apart = f" besides {', '.join(map(repr, others))}" if others else ""
        raise ValueError(
            f"{table.source} must have {len(encoder.table_names)} columns{apart}, because the model knows them by "
            "position, "
            f"got {len(names)}; remove the others"
        )
    check_columns(table, names)
    return names


def feature_types(encoder: Encoder, names: Sequence[str]) -> dict[str, Any]:
    """Arrow types in which to read the columns of an encoder, by their names in the file."""
    types: dict[str, Any] = dict.fromkeys(names)
    for table_idx, column in zip(encoder.table_idx, encoder.columns, strict=True):
        if types[names[table_idx]] is None:  # all parts of a column of dates have one type
            types[names[table_idx]] = _column_type(column)
    return types


def label_type(head: Head) -> Any:
    """Arrow type in which to read the column that a model predicts."""
    if not isinstance(head, Classes):
        return pa.float64()
    kinds = {type(label) for label in head.labels}
    if str in kinds:
        return pa.string()
    return pa.bool_() if kinds == {bool} else pa.float64()


def _column_type(column: Numeric | Categorical) -> Any:
    if column.n_bits == 0:  # nothing is asked about it
        return None
    if isinstance(column, Timed):
        return pa.duration("us") if column.part == "duration" else pa.timestamp("us")
    if isinstance(column, Numeric):
        return pa.float64()
    kinds = {type(value) for value in column.values}
    if str in kinds and len(kinds) > 1:
        raise ValueError(
            f"column {column.name!r} must have categories of one type to be read from a file, "
            "got strings and numbers; predict in Python instead"
        )
    if kinds == {bool}:
        return pa.bool_()
    return pa.float64() if kinds and str not in kinds else pa.string()
