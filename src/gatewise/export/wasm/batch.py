"""The C code of a WebAssembly module: many rows at a time, over the header and source of the export to C.

In: a `Source`. Out: C text that includes the source, for a compiler with vectors of 128 bits.
Invariant: values of rows are moved into columns and compared 16 bytes at a time; counts stay bit-sliced until the
highest is found. What lanes behind the last row hold is computed and dropped.
"""

from collections.abc import Sequence
from itertools import accumulate

from gatewise.export.c.source import Source, format_constant
from gatewise.export.emit import Writer
from gatewise.export.questions import Asked, list_questions
from gatewise.heads import Classes

ENCODE = """
#define COLUMNS 16 /* at a time */
#define PER_VECTOR ((int32_t)(16 / sizeof(model_value)))

typedef model_value vector __attribute__((vector_size(16)));

static model_word words[N_WORDS], counted[N_COUNTED];
static model_value tile[COLUMNS][MODEL_LANES] __attribute__((aligned(16)));

#if MODEL_VALUE_SIZE == 1
#define BITMASK(v) __builtin_wasm_bitmask_i8x16(v)
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
typedef uint8_t loose __attribute__((vector_size(16), aligned(1), may_alias));

/* Transposes 16 rows of 16 bytes: four times, vector i and i + 8 are merged into 2 i and 2 i + 1. */
static void fill_square(const model_value *rows, int32_t lane) {
  vector t[16], u[16];
  int32_t i;
  for (i = 0; i < 16; ++i) t[i] = *(const loose *)(rows + i * MODEL_N_COLUMNS);
#define MERGE(from, to)                 \\
  for (i = 0; i < 8; ++i) {             \\
    to[2 * i] = LOW(from[i], from[i + 8]); \\
    to[2 * i + 1] = HIGH(from[i], from[i + 8]); \\
  }
  MERGE(t, u)
  MERGE(u, t)
  MERGE(t, u)
  MERGE(u, t)
  for (i = 0; i < 16; ++i) *(vector *)&tile[i][lane] = t[i];
}
#elif MODEL_VALUE_SIZE == 2
#define BITMASK(v) __builtin_wasm_bitmask_i16x8(v)
#elif MODEL_VALUE_SIZE == 4
#define BITMASK(v) __builtin_wasm_bitmask_i32x4(v)
#else
#define BITMASK(v) __builtin_wasm_bitmask_i64x2(v)
#endif

/* Copies some columns of n rows, the first of which `rows` points at. */
static void fill_tile(const model_value *rows, int32_t n, int32_t n_columns) {
  int32_t lane = 0, i;
#if MODEL_VALUE_SIZE == 1
  if (n_columns == COLUMNS)
    for (; lane + 16 <= n; lane += 16) fill_square(rows + lane * MODEL_N_COLUMNS, lane);
#endif
  for (; lane < n; ++lane)
    for (i = 0; i < n_columns; ++i) tile[i][lane] = rows[lane * MODEL_N_COLUMNS + i];
}

#define DEFINE_ASK_ALL(name, condition)                                                    \\
  static void name(const vector *column, const model_value constant, int32_t n, model_word *word) { \\
    const vector c = constant - (vector){0};                                           \\
    int32_t part, i;                                                                   \\
    (void)c;                                                                           \\
    for (part = 0; 64 * part < n; ++part) {                                            \\
      uint64_t mask = 0;                                                               \\
      for (i = 0; i < 64 / PER_VECTOR; ++i) {                                          \\
        const vector x = *column++;                                                    \\
        mask |= (uint64_t)(uint32_t)BITMASK(condition) << (i * PER_VECTOR);            \\
      }                                                                                \\
      ((uint64_t *)word)[part] = mask; /* what a word is made of */                      \\
    }                                                                                  \\
  }
DEFINE_ASK_ALL(ask_all_greater, x > c)
DEFINE_ASK_ALL(ask_all_equal, x == c)
DEFINE_ASK_ALL(ask_all_missing, x != x)

/* Bits of n rows. This and the next are functions of their own, which engines optimize one by one. */
PART static void encode_rows(const model_value *rows, int32_t n) {
  int32_t first, column, bit = 0;
  for (first = 0; first < MODEL_N_COLUMNS; first += COLUMNS) {
    const int32_t n_columns = MODEL_N_COLUMNS - first < COLUMNS ? MODEL_N_COLUMNS - first : COLUMNS;
    fill_tile(rows + first, n, n_columns);
    for (column = 0; column < n_columns; ++column) {
      const vector *x = (const vector *)tile[column];
      for (; bit < first_bit[first + column + 1]; ++bit) {
        if (asked[bit].kind == 0) ask_all_greater(x, asked[bit].constant, n, &words[bit]);
        if (asked[bit].kind == 1) ask_all_equal(x, asked[bit].constant, n, &words[bit]);
        if (asked[bit].kind == 2) ask_all_missing(x, asked[bit].constant, n, &words[bit]);
      }
    }
  }
}
"""

COUNT = """
PART static void evaluate_words(void) { evaluate(words, counted); }

typedef void finish(const model_word *y, int32_t n, void *result);

/* Evaluates rows of numbers, or blocks of bits if `bits` is not 0; what is found for a row takes `size` bytes. */
static void run(const model_value *rows, const model_word *bits, int32_t n, finish *end, char *result, int32_t size) {
  for (; n > 0; n -= MODEL_LANES) {
    const int32_t n_lanes = n < MODEL_LANES ? n : MODEL_LANES;
    int32_t i;
    if (bits) {
      for (i = 0; i < MODEL_N_BITS; ++i) words[i] = bits[i];
      bits += MODEL_N_BITS;
    } else {
      encode_rows(rows, n_lanes);
      rows += MODEL_LANES * MODEL_N_COLUMNS;
    }
    evaluate_words();
    end(counted, n_lanes, result);
    result += MODEL_LANES * size;
  }
}

static void write_counts(const model_word *y, int32_t n, void *result) { count_lanes(y, n, result); }

void model_rows_counts(const model_value *rows, int32_t n, int32_t *counts) {
  run(rows, 0, n, write_counts, (char *)counts, 4 * MODEL_N_GROUPS);
}

void model_blocks_counts(const model_word *bits, int32_t n, int32_t *counts) {
  run(0, bits, n, write_counts, (char *)counts, 4 * MODEL_N_GROUPS);
}
"""

SCORES = """
void model_rows_scores(const model_value *rows, int32_t n, double *scores, int32_t *counts) {
  model_rows_counts(rows, n, counts);
  for (; n > 0; --n) {
    score(counts, scores);
    counts += MODEL_N_GROUPS;
    scores += MODEL_N_GROUPS;
  }
}
"""

CLASSES = """
/* The group with the highest count, the lowest of several: numbers are compared plane by plane, all lanes at once. */
static void write_classes(const model_word *y, int32_t n, void *result) {
  model_word best[N_PLANES], planes[N_PLANES], index[N_INDEX_PLANES];
  int32_t *classes = result;
  int32_t k, j, lane;
  y = sum_group(y, 0, best);
  for (j = 0; j < N_INDEX_PLANES; ++j) index[j] = MASK(0);
  for (k = 1; k < MODEL_N_GROUPS; ++k) {
    model_word is_higher = MASK(0);
    y = sum_group(y, k, planes);
    for (j = 0; j < N_PLANES; ++j) is_higher ^= (planes[j] ^ best[j]) & (planes[j] ^ is_higher);
    for (j = 0; j < N_PLANES; ++j) best[j] ^= (planes[j] ^ best[j]) & is_higher;
    for (j = 0; j < N_INDEX_PLANES; ++j) index[j] ^= (MASK(k >> j & 1) ^ index[j]) & is_higher;
  }
  for (lane = 0; lane < n; ++lane) {
    classes[lane] = 0;
    for (j = 0; j < N_INDEX_PLANES; ++j) classes[lane] |= MODEL_LANE(index[j], lane) << j;
  }
}

void model_rows_classes(const model_value *rows, int32_t n, int32_t *classes) {
  run(rows, 0, n, write_classes, (char *)classes, 4);
}

void model_blocks_classes(const model_word *bits, int32_t n, int32_t *classes) {
  run(0, bits, n, write_classes, (char *)classes, 4);
}
"""


def list_functions(source: Source) -> list[str]:
    """Names of what the module exports, beside its memory and where free memory starts."""
    parts = ["rows_counts", "blocks_counts"]
    if source.head is not None:
        parts.append("rows_scores")
    if isinstance(source.head, Classes):
        parts += ["rows_classes", "blocks_classes"]
    return [f"{source.name}_{part}" for part in parts]


def write_batch(source: Source, asked: Sequence[Asked]) -> str:
    """The code."""
    sizes = {"float64": 8, "float32": 4, "int32": 4, "int16": 2, "uint8": 1}
    writer = Writer()
    writer.line(f'#include "{source.name}.c"')
    writer.line(f"#define MODEL_VALUE_SIZE {sizes[source.dtype]}")
    writer.line(f"#define N_INDEX_PLANES {max((source.circuit.n_groups - 1).bit_length(), 1)}")
    with writer.block("static const struct { int32_t kind; model_value constant; } asked[] = {", "};"):
        bits = [f"{{{q.kind}, {format_constant(q.constant, source.dtype)}}}" for q in list_questions(asked)]
        writer.wrap(bits or ["{0, 0}"])
    with writer.block("static const int32_t first_bit[] = {", "};"):
        writer.wrap(map(str, accumulate((column.n_bits for column in asked), initial=0)))
    writer.section(ENCODE)
    writer.section(COUNT)
    if source.head is not None:
        writer.section(SCORES)
    if isinstance(source.head, Classes):
        writer.section(CLASSES)
    return source.rename(writer.text())
