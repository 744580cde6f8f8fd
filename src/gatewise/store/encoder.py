"""Encoders in files: tensors and a JSON document, and back again from what strangers wrote.

In: an encoder. Out: uint8 tensors and a document, equal for equal encoders.
Invariant: restoring takes memory in proportion to what is stored, and anything inconsistent is a ValueError.
"""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.checks import as_integer
from gatewise.encode import Categorical, Encoder, Numeric, Timed
from gatewise.encode.columns import Column
from gatewise.encode.fit import default_names
from gatewise.encode.timed import PARTS
from gatewise.encode.times import FIRST_DAY, LAST_DAY
from gatewise.store.container import Document, Stored, Tensors, check_names
from gatewise.store.packing import pack_integers, pack_nibbles, unpack_integers, unpack_nibbles

MAX_COLUMNS = 2**20  # a file can say in bits that there is a column, which then takes half a kilobyte
MAX_THRESHOLDS = 2**31 - 1
IS_CATEGORICAL, HAS_MISSING, IS_TIMED, IS_FURTHER = 1, 2, 4, 8
"""Flags of a column, one nibble each. A further one reads the same column of a table as the one before it."""


def store_encoder(encoder: Encoder) -> Stored:
    """What a file holds of an encoder.

    Examples
    --------
    >>> tensors, document = store_encoder(Encoder.images((2, 2), 3))
    >>> document
    {'n_columns': 4, 'n_thresholds': 12, 'names': None, 'values': []}
    >>> tensors["distinct"].view("<f8").tolist()
    [63.75, 127.5, 191.25]
    """
    columns = encoder.columns
    if len(columns) > MAX_COLUMNS:
        raise ValueError(f"columns must number at most {MAX_COLUMNS} in a file, got {len(columns)}")
    numeric = [column for column in columns if isinstance(column, Numeric)]
    categorical = [column for column in columns if isinstance(column, Categorical)]
    thresholds = np.concatenate([np.empty(0), *(column.thresholds for column in numeric)])
    # The columns of an image share their thresholds, so each distinct one is stored once.
    distinct, threshold_idx = np.unique(thresholds, return_inverse=True)
    sizes = [len(column.thresholds) for column in numeric]
    timed = [column for column in columns if isinstance(column, Timed)]
    is_further = [False, *(i == j for i, j in itertools.pairwise(encoder.table_idx))]
    flags = [_flag(column) + IS_FURTHER * further for column, further in zip(columns, is_further, strict=False)]
    tensors = {
        "flags": pack_nibbles(np.array(flags, np.uint8)),
        "sizes": pack_integers(np.array(sizes, np.int32)),
        "distinct": distinct.astype("<f8").view(np.uint8),
        "threshold_idx": pack_integers(threshold_idx.astype(np.int32)),
    }
    document: Document = {
        "n_columns": len(columns),
        "n_thresholds": len(thresholds),
        "names": list(encoder.table_names) if encoder.named else None,
        "values": [list(column.values) for column in categorical],
    }
    if timed:
        document["times"] = [[column.part, column.anchor] for column in timed]
    return tensors, document


def restore_encoder(tensors: Tensors, document: Document) -> Encoder:
    """Inverse of `store_encoder`; raises ValueError unless both are complete and consistent.

    Examples
    --------
    >>> restore_encoder(*store_encoder(Encoder.images((2, 2), 3)))
    Encoder(n_columns=4, n_bits=12, named=False)
    """
    check_names("tensors of the encoder", tensors, {"flags", "sizes", "distinct", "threshold_idx"})
    others = {"times"} & set(document)  # only with columns of dates or durations
    check_names("document of the encoder", document, {"n_columns", "n_thresholds", "names", "values"} | others)
    n_columns = as_integer("n_columns", document["n_columns"], 0, MAX_COLUMNS)
    flags = unpack_nibbles(tensors["flags"], n_columns)
    _check_flags(flags)
    is_further = (flags & IS_FURTHER) > 0
    names = _restore_names(document["names"], n_columns - int(is_further.sum()))
    n_categorical, n_timed = int((flags & IS_CATEGORICAL > 0).sum()), int((flags & IS_TIMED > 0).sum())
    values = _as_list("values", document["values"], n_categorical)
    if ("times" in document) != (n_timed > 0):
        raise ValueError(f"times must be there just where columns are dates or durations, got {n_timed} of them")
    times = [_restore_time(entry) for entry in _as_list("times", document.get("times", []), n_timed)]
    thresholds = _restore_thresholds(tensors, document, n_columns - n_categorical)
    numeric, categorical, timed = iter(thresholds), iter(values), iter(times)
    table_names = names or default_names(n_columns - int(is_further.sum()))
    columns: list[Column] = []
    for flag, table_idx in zip(flags.tolist(), (np.cumsum(~is_further) - 1).tolist(), strict=True):
        name, missing = table_names[table_idx], bool(flag & HAS_MISSING)
        if flag & IS_CATEGORICAL:
            columns.append(Categorical(name, _restore_values(next(categorical)), missing))
        elif flag & IS_TIMED:
            part, anchor = next(timed)
            columns.append(Timed(next(numeric), missing, source=name, part=part, anchor=anchor))
        else:
            columns.append(Numeric(name, next(numeric), missing))
    return Encoder(tuple(columns), names is not None)


def _flag(column: Column) -> int:
    kind = IS_CATEGORICAL * isinstance(column, Categorical) + IS_TIMED * isinstance(column, Timed)
    return kind + HAS_MISSING * column.missing


def _check_flags(flags: NDArray[np.uint8]) -> None:
    """Raise ValueError unless columns are of one kind, and a further one is a part of the dates before it."""
    is_timed, is_further = (flags & IS_TIMED) > 0, (flags & IS_FURTHER) > 0
    wrong = is_timed & ((flags & IS_CATEGORICAL) > 0)
    wrong |= is_further & ~(is_timed & np.append(False, is_timed)[: len(flags)])
    if wrong.any():
        raise ValueError(
            f"flags of a column must be of one kind, and further ones of dates, got {flags[wrong.argmax()]} "
            f"of column {wrong.argmax()}"
        )


def _restore_time(entry: Any) -> tuple[str, int]:
    if not isinstance(entry, list) or len(entry) != 2 or entry[0] not in PARTS:
        raise ValueError(f"times must be pairs of a part, one of {', '.join(PARTS)}, and an anchor, got {entry!r:.60}")
    return entry[0], as_integer("anchor", entry[1], FIRST_DAY, LAST_DAY)


def _restore_thresholds(tensors: Tensors, document: Document, n_numeric: int) -> list[NDArray[np.float64]]:
    n_thresholds = as_integer("n_thresholds", document["n_thresholds"], 0, MAX_THRESHOLDS)
    sizes = unpack_integers(tensors["sizes"], n_numeric)
    if (sizes < 0).any() or sizes.sum(dtype=np.int64) != n_thresholds:
        raise ValueError(f"sizes must be the numbers of thresholds, {n_thresholds} together")
    if len(tensors["distinct"]) % 8:
        raise ValueError(f"distinct must hold float64 numbers of 8 bytes, got {len(tensors['distinct'])} bytes")
    distinct = tensors["distinct"].view("<f8").astype(np.float64)
    if not (distinct[1:] > distinct[:-1]).all():
        raise ValueError("distinct must increase strictly")
    threshold_idx = unpack_integers(tensors["threshold_idx"], n_thresholds)
    if not np.array_equal(np.unique(threshold_idx), np.arange(len(distinct))):
        raise ValueError(f"threshold_idx must point to each of the {len(distinct)} distinct thresholds")
    ends = np.cumsum(sizes)
    return np.split(distinct[threshold_idx], ends[:-1]) if n_numeric else []


def _restore_names(names: Any, n_columns: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    texts = _as_list("names", names, n_columns)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"names must be strings, got {texts!r:.200}")
    return tuple(texts)


def _restore_values(values: Any) -> tuple[Any, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
        raise ValueError(f"values of a column must be strings, numbers or bools, got {values!r:.200}")
    return tuple(values)


def _as_list(name: str, found: Any, n: int) -> list[Any]:
    if not isinstance(found, list) or len(found) != n:
        raise ValueError(f"{name} must be a list of {n}, got {found!r:.200}")
    return found
