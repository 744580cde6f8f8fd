"""check.cu: a program that asks exported CUDA C++ for answers that the reference evaluator has given.

In: a `Source`. Out: C++ text.
"""

from gatewise.export.c.check import write_vectors
from gatewise.export.c.source import Source
from gatewise.export.cuda.source import format_value
from gatewise.export.emit import Writer
from gatewise.heads import Classes

MAIN = """
static int32_t counts[N_ROWS][MODEL_N_GROUPS + 1];
static uint32_t words[MODEL_N_BITS + 1][N_WORDS];

int main() {
  int32_t *found = counts[0];
  if (model_rows_counts(rows[0], N_ROWS, found)) return 4;
  for (int row = 0; row < N_ROWS; ++row)
    for (int k = 0; k < MODEL_N_GROUPS; ++k)
      if (found[row * MODEL_N_GROUPS + k] != expected_counts[row][k]) return 1;
  for (int bit = 0; bit < MODEL_N_BITS; ++bit)
    for (int row = 0; row < N_ROWS; ++row)
      words[bit][row / 32] |= (uint32_t)(bits[row][bit / 8] >> bit % 8 & 1) << row % 32;
  if (model_bits_counts(words[0], N_ROWS, found)) return 4;
  for (int row = 0; row < N_ROWS; ++row)
    for (int k = 0; k < MODEL_N_GROUPS; ++k)
      if (found[row * MODEL_N_GROUPS + k] != expected_counts[row][k]) return 3;
HEAD  return 0;
}
"""

CHECK_SCORES = """
  static double scores[N_ROWS][MODEL_N_GROUPS];
  if (model_rows_scores(rows[0], N_ROWS, scores[0])) return 4;
  for (int row = 0; row < N_ROWS; ++row)
    for (int k = 0; k < MODEL_N_GROUPS; ++k)
      if (scores[row][k] != expected_scores[row][k]) return 2;
"""

CHECK_CLASSES = """
  static int32_t classes[2][N_ROWS];
  if (model_rows_classes(rows[0], N_ROWS, classes[0]) || model_bits_classes(words[0], N_ROWS, classes[1])) return 4;
  for (int row = 0; row < N_ROWS; ++row)
    if (classes[0][row] != expected_class[row][0] || classes[1][row] != expected_class[row][0]) return 2;
"""


def write_check(source: Source) -> str:
    """The program; it exits with 0 if all answers are right, 1, 2 or 3 if counts, head or packed bits are wrong.

    It exits with 4 if CUDA reports an error.
    """
    writer = Writer()
    writer.lines("/* Exits with 0 if the code gives the answers of gatewise's reference evaluator, 4 without a GPU. */")
    writer.lines("#include <math.h>")
    write_vectors(writer, source, format_value)
    writer.line("#define N_WORDS ((N_ROWS + 31) / 32)")
    head = CHECK_SCORES.lstrip("\n") if source.head is not None else ""
    head += CHECK_CLASSES.lstrip("\n") if isinstance(source.head, Classes) else ""
    writer.lines(MAIN.replace("HEAD", head))
    return source.rename(writer.text())
