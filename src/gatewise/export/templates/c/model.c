#include "model.h"

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
#define IS_TRUE(word) ((uint32_t)(word) & 1)
#endif

/* What functions for many rows work on is on the stack; a program without threads may say static instead. */
#ifndef MODEL_STORAGE
#define MODEL_STORAGE
#endif

/* As in math.h, which is not needed. */
#define INFINITY (1.0 / 0.0)
#define NAN (0.0 / 0.0)

#include "tables.h"

#include "style.h"

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

void model_counts(const model_value *row, int32_t *counts) {
  const model_word zero = {0};
  model_word w[N_WORDS], all[N_COUNTED], *y = all;
  int32_t k;
  w[0] = y[0] = zero; /* there may be no bit, and nothing that is counted */
  encode(row, w);
  evaluate(w, y);
  for (k = 0; k < MODEL_N_GROUPS; ++k) {
    counts[k] = groups[k][0] + count_true(y, groups[k][1]) - count_true(y + groups[k][1], groups[k][2]);
    y += groups[k][1] + groups[k][2];
  }
}

/* Full adder: the sum replaces a, the carry goes to c. */
#define ADD(a, b, c)                             \
  do {                                           \
    const model_word half = (a) ^ (b), in = (c); \
    (c) = ((a) & (b)) | (half & in);             \
    (a) = half ^ in;                             \
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

#include "encode_rows.h"

PART static void evaluate_words(model_word *w, model_word *y) { evaluate(w, y); }

typedef void finish(const model_word *y, int32_t n, int32_t *result);

/* Evaluates rows of numbers, or blocks of bits if `rows` is 0; `end` makes `size` integers per row of what is counted.
 */
static void run(const model_value *rows, const model_word *blocks, int32_t n, finish *end, int32_t *result,
                int32_t size) {
  MODEL_STORAGE model_word w[N_WORDS], y[N_COUNTED];
  const model_word zero = {0};
  w[0] = y[0] = zero;
  for (; n > 0; n -= MODEL_LANES, result += MODEL_LANES * size) {
    const int32_t n_lanes = n < MODEL_LANES ? n : MODEL_LANES;
    int32_t i;
    if (rows) {
      encode_rows(rows, n_lanes, w);
      rows += MODEL_LANES * MODEL_N_COLUMNS;
    } else {
      for (i = 0; i < MODEL_N_BITS; ++i) w[i] = blocks[i];
      blocks += MODEL_N_BITS;
    }
    evaluate_words(w, y);
    end(y, n_lanes, result);
  }
}

void model_counts_rows(const model_value *rows, int32_t n, int32_t *counts) {
  run(rows, 0, n, count_lanes, counts, MODEL_N_GROUPS);
}

void model_counts_blocks(const model_word *blocks, int32_t n, int32_t *counts) {
  run(0, blocks, n, count_lanes, counts, MODEL_N_GROUPS);
}

#include "score.h"

#if MODEL_IS_CLASSIFIER || MODEL_IS_REGRESSION
typedef void from_counts(const int32_t *counts, double *result);

static void find_row(const model_value *row, from_counts *find, double *result) {
  int32_t counts[MODEL_N_GROUPS];
  model_counts(row, counts);
  find(counts, result);
}

static void find_rows(const model_value *rows, int32_t n, from_counts *find, double *result) {
  MODEL_STORAGE int32_t counts[MODEL_LANES * MODEL_N_GROUPS];
  int32_t i;
  for (; n > 0; n -= MODEL_LANES, rows += MODEL_LANES * MODEL_N_COLUMNS, result += MODEL_LANES * MODEL_N_GROUPS) {
    const int32_t n_lanes = n < MODEL_LANES ? n : MODEL_LANES;
    model_counts_rows(rows, n_lanes, counts);
    for (i = 0; i < n_lanes * MODEL_N_GROUPS; i += MODEL_N_GROUPS) find(counts + i, result + i);
  }
}

void model_scores(const model_value *row, double *scores) { find_row(row, score, scores); }

void model_scores_rows(const model_value *rows, int32_t n, double *scores) { find_rows(rows, n, score, scores); }
#endif

#if MODEL_IS_CLASSIFIER
void model_proba(const model_value *row, double *proba) { find_row(row, find_proba, proba); }

void model_proba_rows(const model_value *rows, int32_t n, double *proba) { find_rows(rows, n, find_proba, proba); }

int32_t model_predict(const model_value *row) {
  int32_t counts[MODEL_N_GROUPS], best = 0, k;
  model_counts(row, counts);
  for (k = 1; k < MODEL_N_GROUPS; ++k)
    if (counts[k] > counts[best]) best = k;
  return best;
}

/* The group with the highest count, the lowest of several: numbers are compared plane by plane, all lanes at once. */
static void classify_lanes(const model_word *y, int32_t n, int32_t *classes) {
  model_word best[N_PLANES], planes[N_PLANES], index[N_INDEX_PLANES];
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

void model_predict_rows(const model_value *rows, int32_t n, int32_t *classes) {
  run(rows, 0, n, classify_lanes, classes, 1);
}

void model_predict_blocks(const model_word *blocks, int32_t n, int32_t *classes) {
  run(0, blocks, n, classify_lanes, classes, 1);
}

const char *model_label(int32_t index) { return labels[index]; }
#endif

#if MODEL_IS_REGRESSION
#if MODEL_N_GROUPS == 1
double model_predict(const model_value *row) {
  double value;
  model_scores(row, &value);
  return value;
}
#else
void model_predict(const model_value *row, double *values) { model_scores(row, values); }
#endif

void model_predict_rows(const model_value *rows, int32_t n, double *values) { model_scores_rows(rows, n, values); }
#endif

#if MODEL_HAS_CODES
int32_t model_code(int32_t column, const char *text) {
  int32_t i;
  if (column < 0 || column >= MODEL_N_COLUMNS) return -1;
  for (i = first_value[column]; i < first_value[column + 1]; ++i) {
    const char *value = values[i];
    int32_t at = 0;
    if (!value) continue;
    while (value[at] && value[at] == text[at]) ++at;
    if (value[at] == text[at]) return i - first_value[column];
  }
  return -1;
}
#endif
