"""The header and the source of an export to C, but for the code of the styles and of the head.

In: a `Source`, code of a style, code of the head. Out: text.
Invariant: all names that a program sees start with the name of the export; all others are static.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gatewise.circuit import Circuit
from gatewise.encode import Encoder
from gatewise.export.emit import Writer, format_float
from gatewise.export.lower import Netlist
from gatewise.export.names import escape_names
from gatewise.heads import Head

Style = Literal["unrolled", "table"]
C_TYPES = {"float64": "double", "float32": "float", "int32": "int32_t", "int16": "int16_t", "uint8": "uint8_t"}


@dataclass(frozen=True, eq=False)
class Source:
    """What is exported, and how.

    Parameters
    ----------
    name : str
        What all names start with.
    dtype : str
        Type of the numbers of a row.
    style : {"unrolled", "table"}
    encoder : Encoder
    circuit : Circuit
    head : Head, or None for a circuit alone
    netlist : Netlist
        Of the circuit.
    """

    name: str
    dtype: str
    style: Style
    encoder: Encoder
    circuit: Circuit
    head: Head | None
    netlist: Netlist

    @property
    def n_counted(self) -> int:
        """Nodes that the groups count."""
        return len(self.netlist.read_nodes())

    def rename(self, text: str) -> str:
        """Code with the name of this export in the place of `model` and `MODEL` wherever names start like that.

        Names that users gave are not touched: they stand behind others, and strings of C never hold an underscore.
        """
        return re.sub(r"\bMODEL_", f"{self.name.upper()}_", re.sub(r"\bmodel_", f"{self.name}_", text))


@dataclass(frozen=True)
class Body:
    """The code of a style, and how many words `evaluate` works on: inputs, and what it keeps behind them."""

    code: str
    n_words: int


WORDS = """
/* Rows that model_block evaluates at once: 64, 32, 16 or 8; with GCC and Clang also 128, 256 or 512. */
#ifndef MODEL_LANES
#define MODEL_LANES 64
#endif
#if MODEL_LANES == 64
typedef uint64_t model_word;
#elif MODEL_LANES == 32
typedef uint32_t model_word;
#elif MODEL_LANES == 16
typedef uint16_t model_word;
#elif MODEL_LANES == 8
typedef uint8_t model_word;
#elif defined(__GNUC__) && (MODEL_LANES == 128 || MODEL_LANES == 256 || MODEL_LANES == 512)
typedef uint64_t model_word __attribute__((vector_size(MODEL_LANES / 8)));
#else
#error "MODEL_LANES must be 8, 16, 32 or 64, or 128, 256 or 512 with GCC or Clang"
#endif

/* Bit `lane` of a word: read it, and set it in a word where it is 0. */
#if MODEL_LANES > 64
#define MODEL_LANE(word, lane) ((int32_t)((word)[(lane) / 64] >> ((lane) % 64) & 1))
#define MODEL_SET_LANE(word, lane) ((word)[(lane) / 64] |= (uint64_t)1 << ((lane) % 64))
#else
#define MODEL_LANE(word, lane) ((int32_t)((word) >> (lane) & 1))
#define MODEL_SET_LANE(word, lane) ((word) = (model_word)((word) | (model_word)((model_word)1 << (lane))))
#endif
"""

OPENING = """
#include "model_.h"

#ifdef __GNUC__
#define PART __attribute__((noinline))
#else
#define PART
#endif

/* A word that is all ones if a condition holds, else zero. */
#if MODEL_LANES > 64
#define MASK(condition) ((model_word){0} - (uint64_t)(condition))
#else
#define MASK(condition) ((model_word)(0 - (model_word)(condition)))
#endif

/* 1 if such a word is all ones, else 0. */
#if MODEL_LANES > 64
#define IS_TRUE(word) (0 - (uint32_t)(word)[0])
#elif MODEL_LANES >= 32
#define IS_TRUE(word) (0 - (uint32_t)(word))
#else
#define IS_TRUE(word) ((uint32_t)(word)&1)
#endif
"""

CORE = """
/* How many of n words are true; four sums at a time, which do not wait for each other. */
static int32_t count_true(const model_word *y, int32_t n) {
  uint32_t s[4] = {0, 0, 0, 0};
  int32_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s[0] += IS_TRUE(y[i]);
    s[1] += IS_TRUE(y[i + 1]);
    s[2] += IS_TRUE(y[i + 2]);
    s[3] += IS_TRUE(y[i + 3]);
  }
  for (; i < n; ++i) s[0] += IS_TRUE(y[i]);
  return (int32_t)(s[0] + s[1] + s[2] + s[3]);
}

/* Counts of words that are all ones or zero. */
static void count_one(const model_word *y, int32_t *counts) {
  int32_t k;
  for (k = 0; k < MODEL_N_GROUPS; ++k) {
    counts[k] = groups[k][0] + count_true(y, groups[k][1]) - count_true(y + groups[k][1], groups[k][2]);
    y += groups[k][1] + groups[k][2];
  }
}

/* Full adder: the sum replaces a, the carry goes to c. */
#define ADD(a, b, c)                            \\
  do {                                          \\
    const model_word half = (a) ^ (b), in = (c); \\
    (c) = ((a) & (b)) | (half & in);            \\
    (a) = half ^ in;                            \\
  } while (0)

/* Adds seven words to the bit-sliced counter of every lane. */
static void add_seven(model_word *v, model_word *planes) {
  model_word carry = v[6];
  int32_t j;
  ADD(v[0], v[1], v[2]);
  ADD(v[3], v[4], v[5]);
  ADD(v[0], v[3], carry);
  ADD(v[2], v[5], carry);
  v[1] = v[1] ^ v[1];
  ADD(planes[0], v[0], v[1]);
  ADD(planes[1], v[2], v[1]);
  ADD(planes[2], carry, v[1]);
  for (j = 3; j < N_PLANES; ++j) {
    const model_word digit = planes[j];
    planes[j] = digit ^ v[1];
    v[1] = digit & v[1];
  }
}

/* Adds n words, or their inverses. */
static void add_words(const model_word *y, int32_t n, int is_inverted, model_word *planes) {
  const model_word zero = {0}, flip = MASK(is_inverted);
  model_word v[7];
  int32_t i = 0, j;
  for (; i + 7 <= n; i += 7) {
    for (j = 0; j < 7; ++j) v[j] = y[i + j] ^ flip;
    add_seven(v, planes);
  }
  for (j = 0; j < 7; ++j) v[j] = i + j < n ? y[i + j] ^ flip : zero;
  add_seven(v, planes);
}

/* Counts of group k of all lanes: bit j of that of lane l is bit l of planes[j]. Gives the words of the next group. */
static const model_word *sum_group(const model_word *y, int32_t k, model_word *planes) {
  int32_t j;
  for (j = 0; j < N_PLANES; ++j) planes[j] = MASK((groups[k][0] - groups[k][2]) >> j & 1);
  add_words(y, groups[k][1], 0, planes);
  y += groups[k][1];
  add_words(y, groups[k][2], 1, planes);
  return y + groups[k][2];
}

/* Counts of the first n lanes: of lane l and group k at counts[l * MODEL_N_GROUPS + k]. */
static void count_lanes(const model_word *y, int32_t n, int32_t *counts) {
  int32_t k, lane, j;
  for (k = 0; k < MODEL_N_GROUPS; ++k) {
    model_word planes[N_PLANES];
    y = sum_group(y, k, planes);
    for (lane = 0; lane < n; ++lane) {
      int32_t count = 0;
      for (j = 0; j < N_PLANES; ++j) count += MODEL_LANE(planes[j], lane) << j;
      counts[lane * MODEL_N_GROUPS + k] = count;
    }
  }
}

void model_counts(const model_value *row, int32_t *counts) {
  const model_word zero = {0};
  model_word w[N_WORDS], y[N_COUNTED];
  w[0] = y[0] = zero; /* there may be no bit, and nothing that is counted */
  encode(row, w);
  evaluate(w, y);
  count_one(y, counts);
}

void model_counts_rows(const model_value *rows, int32_t n_rows, int32_t *counts) {
  for (; n_rows > 0; --n_rows) {
    model_counts(rows, counts);
    rows += MODEL_N_COLUMNS;
    counts += MODEL_N_GROUPS;
  }
}

void model_block(const model_word *bits_of_rows, int32_t *counts) {
  const model_word zero = {0};
  model_word w[N_WORDS], y[N_COUNTED];
  int32_t i;
  w[0] = y[0] = zero;
  for (i = 0; i < MODEL_N_BITS; ++i) w[i] = bits_of_rows[i];
  evaluate(w, y);
  count_lanes(y, MODEL_LANES, counts);
}
"""

CORE_PROTOTYPES = """
/* Number of true outputs of each group, for one row: counts[MODEL_N_GROUPS]. */
void model_counts(const model_value *row, int32_t *counts);

/* The same for n_rows rows, one behind the other. */
void model_counts_rows(const model_value *rows, int32_t n_rows, int32_t *counts);

/* The same for MODEL_LANES rows of bits: row l is bit l of each bits[MODEL_N_BITS];
   its counts go to counts[l * MODEL_N_GROUPS ...]. */
void model_block(const model_word *bits, int32_t *counts);
"""


def format_constant(value: float | int, dtype: str) -> str:
    """A constant of a dtype as C; NaN and infinities as divisions, which need no math.h."""
    if dtype[0] != "f":
        return f"(-{-value - 1} - 1)" if value < 0 else str(value)
    suffix = "f" if dtype == "float32" else ""
    if not math.isfinite(value):
        numerator = {math.inf: "1.0", -math.inf: "-1.0"}.get(value, "0.0")
        return f"({numerator}{suffix} / 0.0{suffix})"
    return format_float(value) + suffix


def write_header(source: Source, prototypes: Sequence[str]) -> str:
    """The header."""
    writer = Writer("")
    writer.lines("/* Written by gatewise; README.md says what the names mean. */\n#ifndef MODEL_H\n#define MODEL_H")
    writer.section('#include <stdint.h>\n\n#ifdef __cplusplus\nextern "C" {\n#endif\n')
    writer.line()
    circuit = source.circuit
    sizes = {"COLUMNS": source.encoder.n_columns, "BITS": circuit.n_inputs, "GROUPS": circuit.n_groups}
    for size, value in sizes.items():
        writer.line(f"#define MODEL_N_{size} {value}")
    writer.section(f"typedef {C_TYPES[source.dtype]} model_value; /* of a row */")
    if source.encoder.named and source.encoder.columns:
        writer.line()
        with writer.block("enum { /* positions in a row */", "};"):
            writer.wrap(f"MODEL_COLUMN_{name}" for name in escape_names(source.encoder.names))
    for part in (WORDS, CORE_PROTOTYPES, *prototypes, "#ifdef __cplusplus\n}\n#endif", "#endif"):
        writer.section(part)
    return source.rename(writer.text())


def write_source(source: Source, body: Body, head_code: str) -> str:
    """The source."""
    most = max((group.base + len(group.added) for group in source.netlist.groups), default=0)
    writer = Writer("  ")
    writer.lines(OPENING.replace("model_.h", f"{source.name}.h"))
    writer.line()
    writer.line(f"#define MODEL_VALUE_IS_DOUBLE {int(source.dtype == 'float64')}")
    writer.line(f"#define N_WORDS {max(body.n_words, 1)}")
    writer.line(f"#define N_COUNTED {max(source.n_counted, 1)}")
    writer.line(f"#define N_PLANES {max(most.bit_length(), 3)}")
    writer.lines(
        "\n/* A group counts [0] + true ones of the next [1] words of y - true ones of the [2] words after. */"
    )
    with writer.block("static const int32_t groups[][3] = {", "};"):
        found = [f"{{{g.base}, {len(g.added)}, {len(g.subtracted)}}}" for g in source.netlist.groups]
        writer.wrap(found or ["{0, 0, 0}"])
    for part in (body.code, CORE, head_code):
        writer.section(part)
    return source.rename(writer.text())
