#define COLUMNS 16 /* at a time */
#define PER_VECTOR ((int32_t)(16 / sizeof(model_value)))

typedef model_value vector __attribute__((vector_size(16)));

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
#define MERGE(from, to)                         \
  for (i = 0; i < 8; ++i) {                     \
    to[2 * i] = LOW(from[i], from[i + 8]);      \
    to[2 * i + 1] = HIGH(from[i], from[i + 8]); \
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

#define DEFINE_ASK_ALL(name, condition)                                                             \
  static void name(const vector *column, const model_value constant, int32_t n, model_word *word) { \
    const vector c = constant - (vector){0};                                                        \
    int32_t part, i;                                                                                \
    (void)c;                                                                                        \
    for (part = 0; 64 * part < n; ++part) {                                                         \
      uint64_t mask = 0;                                                                            \
      for (i = 0; i < 64 / PER_VECTOR; ++i) {                                                       \
        const vector x = *column++;                                                                 \
        mask |= (uint64_t)(uint32_t)BITMASK(condition) << (i * PER_VECTOR);                         \
      }                                                                                             \
      ((uint64_t *)word)[part] = mask; /* what a word is made of */                                 \
    }                                                                                               \
  }
DEFINE_ASK_ALL(ask_all_greater, x > c)
DEFINE_ASK_ALL(ask_all_equal, x == c)
DEFINE_ASK_ALL(ask_all_missing, x != x)

/* Bits of n rows, at most MODEL_LANES: bit l of w[i] is bit i of row l. What lanes behind the last row hold is computed
   and dropped. It is a function of its own because engines optimize functions one by one. */
PART static void encode_rows(const model_value *rows, int32_t n, model_word *w) {
  int32_t first, column, bit = 0;
  for (first = 0; first < MODEL_N_COLUMNS; first += COLUMNS) {
    const int32_t n_columns = MODEL_N_COLUMNS - first < COLUMNS ? MODEL_N_COLUMNS - first : COLUMNS;
    fill_tile(rows + first, n, n_columns);
    for (column = 0; column < n_columns; ++column) {
      const vector *x = (const vector *)tile[column];
      for (; bit < first_bit[first + column + 1]; ++bit) {
        if (asked[bit].kind == 0) ask_all_greater(x, asked[bit].constant, n, &w[bit]);
        if (asked[bit].kind == 1) ask_all_equal(x, asked[bit].constant, n, &w[bit]);
        if (asked[bit].kind == 2) ask_all_missing(x, asked[bit].constant, n, &w[bit]);
      }
    }
  }
}
