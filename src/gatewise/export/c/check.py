"""check.c: a program that asks exported code for answers that the reference evaluator has given.

In: a `Source`. Out: C text. Rows are drawn around what the encoder compares with, so that every comparison is tried
from both sides, with missing, infinite and unknown values.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gatewise.encode.columns import Column
from gatewise.export.c.source import Source, format_constant
from gatewise.export.emit import Writer, format_float
from gatewise.export.questions import encode_numbers, is_coded
from gatewise.heads import Classes
from gatewise.run.reference import count_groups

N_ROWS = 70
MAX_CELLS = 50_000

MAIN = """
int main(void) {
  int32_t counts[MODEL_LANES * MODEL_N_GROUPS + 1];
  int32_t row, k, first, lane, bit;
  for (row = 0; row < N_ROWS; ++row) {
    model_counts(rows[row], counts);
    for (k = 0; k < MODEL_N_GROUPS; ++k)
      if (counts[k] != expected_counts[row][k]) return 1;
    if (!check_head(row)) return 2;
  }
  for (first = 0; first < N_ROWS; first += MODEL_LANES) {
    const int32_t n = N_ROWS - first < MODEL_LANES ? N_ROWS - first : MODEL_LANES;
    model_word words[MODEL_N_BITS + 1];
    const model_word zero = {0};
    for (bit = 0; bit < MODEL_N_BITS; ++bit) {
      words[bit] = zero;
      for (lane = 0; lane < n; ++lane)
        if (bits[first + lane][bit / 8] >> bit % 8 & 1) MODEL_SET_LANE(words[bit], lane);
    }
    model_block(words, counts);
    for (lane = 0; lane < n; ++lane)
      for (k = 0; k < MODEL_N_GROUPS; ++k)
        if (counts[lane * MODEL_N_GROUPS + k] != expected_counts[first + lane][k]) return 3;
  }
  return 0;
}
"""

CHECK_SCORES = """
static int check_head(int32_t row) {
  double scores[MODEL_N_GROUPS];
  int32_t k;
  model_scores(rows[row], scores);
  for (k = 0; k < MODEL_N_GROUPS; ++k)
    if (scores[k] != expected_scores[row][k]) return 0;
  return IS_PREDICTED(row);
}
"""


def write_check(source: Source) -> str:
    """The program; it exits with 0 if all answers are right, 1, 2 or 3 if counts, head or blocks are wrong."""
    rows = draw_rows(source)
    bits = encode_numbers(source.encoder, rows)
    counts = count_groups(source.circuit, bits)
    octets = np.packbits(bits, axis=1, bitorder="little")
    writer = Writer()
    writer.lines("/* Exits with 0 if the code gives the answers of gatewise's reference evaluator. */")
    writer.lines(f'#include "{source.name}.h"\n\n#define N_ROWS {len(rows)}\n')
    numbers = ((format_constant(number, source.dtype) for number in row) for row in rows.tolist())
    _write_matrix(writer, "model_value", "rows", numbers)
    _write_matrix(writer, "uint8_t", "bits", (map(str, row) for row in octets.tolist()))
    _write_matrix(writer, "int32_t", "expected_counts", (map(str, row) for row in counts.tolist()))
    if source.head is None:
        writer.lines("static int check_head(int32_t row) { return row >= 0; }")
    else:
        scores = source.head.scores(counts)
        _write_matrix(writer, "double", "expected_scores", (map(format_float, row) for row in scores.tolist()))
        if isinstance(source.head, Classes):
            _write_matrix(writer, "int32_t", "expected_class", ([str(k)] for k in counts.argmax(axis=1).tolist()))
        writer.line(f"#define IS_PREDICTED(row) ({_is_predicted(source)})")
        writer.lines(CHECK_SCORES)
    writer.lines(MAIN)
    return source.rename(writer.text())


def draw_rows(source: Source) -> NDArray[Any]:
    """Rows of the dtype, shape (n_rows, n_columns), the same at every call."""
    rng = np.random.default_rng(0)
    n_columns = source.encoder.n_columns
    n_rows = int(np.clip(MAX_CELLS // max(n_columns, 1), 3, N_ROWS))
    rows = np.zeros((n_rows, n_columns), source.dtype)
    for i, column in enumerate(source.encoder.columns):
        rows[:, i] = rng.choice(_values_to_try(column, rows.dtype), n_rows)
    return rows


def _values_to_try(column: Column, dtype: np.dtype[Any]) -> NDArray[Any]:
    """What a column is compared with, its neighbors, and values that are special."""
    constants = column.tests()[1] if not is_coded(column) else np.arange(column.n_bits + 2.0)
    if dtype.kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            near = constants.astype(dtype)
            up, down = (np.nextafter(near, dtype.type(limit)) for limit in (np.inf, -np.inf))
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
        return np.concatenate([near, up, down, special])
    limits = np.iinfo(dtype)
    near = np.floor(constants)
    wanted = np.concatenate([near - 1, near, near + 1, [0, limits.min, limits.max]])
    tried: NDArray[Any] = np.clip(wanted, limits.min, limits.max).astype(dtype)
    return tried


def _is_predicted(source: Source) -> str:
    if isinstance(source.head, Classes):
        return "model_predict(rows[row]) == expected_class[row][0]"
    if source.circuit.n_groups == 1:
        return "model_predict(rows[row]) == expected_scores[row][0]"
    return "(model_predict(rows[row], scores), scores[0]) == expected_scores[row][0]"


def _write_matrix(writer: Writer, kind: str, name: str, rows: Iterable[Iterable[str]]) -> None:
    """A constant array of rows; one number a row at least, as C has no empty arrays."""
    lists = [list(row) or ["0"] for row in rows]
    with writer.block(f"static const {kind} {name}[N_ROWS][{len(lists[0])}] = {{", "};"):
        for row in lists:
            with writer.block("{", "},"):
                writer.wrap(row)
