"""What wrappers in JavaScript know of a model: sizes, columns, labels, and numbers of the head.

In: a `Source`. Out: constants of JavaScript.
Invariant: names and labels that users gave stand in JSON only.
"""

import json
from collections.abc import Mapping
from typing import Any

from gatewise.encode.columns import Categorical, Column
from gatewise.export.answers import list_powers, tabulate
from gatewise.export.comparisons import is_coded, missing_code
from gatewise.export.source import Source
from gatewise.heads import Classes, Head

ARRAYS = {
    "float64": "Float64Array",
    "float32": "Float32Array",
    "int32": "Int32Array",
    "int16": "Int16Array",
    "uint8": "Uint8Array",
}
"""Arrays of rows."""


def write_constants(source: Source, more: Mapping[str, Any]) -> str:
    """What a wrapper imports: the type of rows, and constants, some of which only one target has."""
    constants = {
        "HAS_NAN": source.dtype[0] == "f",
        "KIND": source.kind,
        "N_BITS": source.circuit.n_inputs,
        "N_COLUMNS": source.encoder.n_columns,
        "N_GROUPS": source.circuit.n_groups,
        **more,
        "columns": [describe_column(column, source.dtype) for column in source.encoder.columns],
        "labels": list(source.head.labels) if isinstance(source.head, Classes) else [],
    }
    lines = [f"const {name} = {json.dumps(value)};" for name, value in constants.items()]
    return "\n".join([f"const Row = {ARRAYS[source.dtype]};", *lines])


def describe_column(column: Column, dtype: str) -> dict[str, Any]:
    """Its name, and if it is coded its values, whose positions are the codes, and the code of a missing one."""
    if not isinstance(column, Categorical) or not is_coded(column):
        return {"name": column.name}
    code = missing_code(column, dtype)
    return {"name": column.name, "values": list(column.values)} | ({} if code is None else {"missing": code})


def describe_head(head: Head | None) -> dict[str, Any]:
    """Constants of wrappers that compute the answers from the counts."""
    if head is None:
        return {"HEAD": {}}
    if isinstance(head, Classes):
        return {"HEAD": {"tau": head.tau, "powers": list_powers(head)}}
    sums = tabulate(head)
    return {"HEAD": {"size": head.group_size, "scale": sums.scale, "offset": sums.offset, "shares": sums.shares}}
