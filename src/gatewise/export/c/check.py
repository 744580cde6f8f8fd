"""check.c: a program that asks exported code for answers that the reference evaluator has given.

In: a `Source`. Out: C text.
"""

from collections.abc import Callable, Iterable

import numpy as np

from gatewise.export.c.source import Source, format_constant
from gatewise.export.emit import Writer, format_float
from gatewise.export.vectors import draw_vectors
from gatewise.heads import Classes

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
    writer = Writer()
    writer.lines("/* Exits with 0 if the code gives the answers of gatewise's reference evaluator. */")
    write_vectors(writer, source, format_constant)
    if source.head is None:
        writer.lines("static int check_head(int32_t row) { return row >= 0; }")
    else:
        writer.line(f"#define IS_PREDICTED(row) ({_is_predicted(source)})")
        writer.lines(CHECK_SCORES)
    writer.lines(MAIN)
    return source.rename(writer.text())


def write_vectors(writer: Writer, source: Source, format_number: Callable[[float | int, str], str]) -> None:
    """Rows and their answers as constant arrays, behind the header of the export."""
    vectors = draw_vectors(source.encoder, source.circuit, source.dtype)
    counts = vectors.counts
    octets = np.packbits(vectors.bits, axis=1, bitorder="little")
    writer.lines(f'#include "{source.name}.h"\n\n#define N_ROWS {len(vectors.rows)}\n')
    numbers = ((format_number(number, source.dtype) for number in row) for row in vectors.rows.tolist())
    _write_matrix(writer, "model_value", "rows", numbers)
    _write_matrix(writer, "uint8_t", "bits", (map(str, row) for row in octets.tolist()))
    _write_matrix(writer, "int32_t", "expected_counts", (map(str, row) for row in counts.tolist()))
    if source.head is not None:
        scores = source.head.scores(counts)
        _write_matrix(writer, "double", "expected_scores", (map(format_float, row) for row in scores.tolist()))
    if isinstance(source.head, Classes):
        _write_matrix(writer, "int32_t", "expected_class", ([str(k)] for k in counts.argmax(axis=1).tolist()))


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
