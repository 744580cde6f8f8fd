/* Exits with 0 if the code gives the answers in vectors.txt, or in the file that is named, which come from gatewise's
   reference evaluator; else with 1 for wrong counts, 2 for wrong answers of the head, 3 for those of packed bits, and 4
   if the file cannot be read or there is no GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define MAX_ROWS 70

#ifdef MODEL_LANES
#define CALL(call) (call)
#define BITS(function) function##_blocks
#define LANES MODEL_LANES
#define SET_LANE MODEL_SET_LANE
typedef model_word word;
typedef void bits_function(const word *bits, int32_t n, int32_t *result);
#else /* CUDA: words of 32 rows, and functions that give an error */
#define CALL(call) ((call) ? exit(4) : (void)0)
#define BITS(function) function##_bits
#define LANES 32
#define SET_LANE(word, lane) ((word) |= (uint32_t)1 << (lane))
typedef uint32_t word;
typedef int bits_function(const word *bits, int64_t n, int32_t *result);
#endif

static FILE *file;
static int32_t n; /* rows */
static model_value rows[MAX_ROWS * MODEL_N_COLUMNS + 1];
static double given[MAX_ROWS * MODEL_N_COLUMNS + 1], bits[MAX_ROWS * MODEL_N_BITS + 1];
static double expected[MAX_ROWS * (MODEL_N_GROUPS + 1)];
static int32_t integers[MAX_ROWS * (MODEL_N_GROUPS + 1)];

/* The next matrix of the file, which must be the one of that name. */
static void read_matrix(const char *name, int32_t n_columns, double *values) {
  char token[40];
  long n_rows, width;
  if (fscanf(file, "%39s %ld %ld", token, &n_rows, &width) != 3 || strcmp(token, name)) exit(4);
  if (n_rows > MAX_ROWS || width != n_columns) exit(4);
  for (n = (int32_t)n_rows, width *= n_rows; width--; *values++ = strtod(token, NULL))
    if (fscanf(file, "%39s", token) != 1) exit(4);
}

static void compare_integers(const int32_t *found, const double *wanted, int32_t size, int code) {
  for (int32_t i = 0; i < size; ++i)
    if (found[i] != wanted[i]) exit(code);
}

/* Gives rows of bits packed to a function whose answer is `width` integers per row. */
static void check_bits(bits_function *call, int32_t width) {
  for (int32_t first = 0; first < n; first += LANES) {
    const int32_t n_rows = n - first < LANES ? n - first : LANES;
    word words[MODEL_N_BITS + 1];
    memset(words, 0, sizeof words);
    for (int32_t lane = 0; lane < n_rows; ++lane)
      for (int32_t i = 0; i < MODEL_N_BITS; ++i)
        if (bits[(first + lane) * MODEL_N_BITS + i] != 0) SET_LANE(words[i], lane);
    CALL(call(words, n_rows, integers));
    compare_integers(integers, expected + first * width, n_rows * width, 3);
  }
}

static void check_counts(void) {
  read_matrix("counts", MODEL_N_GROUPS, expected);
  CALL(model_counts_rows(rows, n, integers));
  compare_integers(integers, expected, n * MODEL_N_GROUPS, 1);
#ifdef MODEL_LANES
  for (int32_t i = 0; i < n; ++i) model_counts(rows + i * MODEL_N_COLUMNS, integers + i * MODEL_N_GROUPS);
  compare_integers(integers, expected, n * MODEL_N_GROUPS, 1);
#endif
  check_bits(BITS(model_counts), MODEL_N_GROUPS);
}

#if MODEL_IS_CLASSIFIER || MODEL_IS_REGRESSION
static double numbers[MAX_ROWS * MODEL_N_GROUPS];

static void compare(double tolerance) {
  for (int32_t i = 0; i < n * MODEL_N_GROUPS; ++i)
    if (!(numbers[i] - expected[i] <= tolerance && expected[i] - numbers[i] <= tolerance)) exit(2);
}

static void check_scores(void) {
  read_matrix("scores", MODEL_N_GROUPS, expected);
  CALL(model_scores_rows(rows, n, numbers));
  compare(0);
#ifdef MODEL_LANES
  for (int32_t i = 0; i < n; ++i) model_scores(rows + i * MODEL_N_COLUMNS, numbers + i * MODEL_N_GROUPS);
  compare(0);
#endif
}
#endif

#if MODEL_IS_CLASSIFIER
static void check_classes(void) {
  read_matrix("proba", MODEL_N_GROUPS, expected);
  CALL(model_proba_rows(rows, n, numbers));
  compare(1e-12);
#ifdef MODEL_LANES
  for (int32_t i = 0; i < n; ++i) model_proba(rows + i * MODEL_N_COLUMNS, numbers + i * MODEL_N_GROUPS);
  compare(1e-12);
#endif
  read_matrix("classes", 1, expected);
  CALL(model_predict_rows(rows, n, integers));
  compare_integers(integers, expected, n, 2);
#ifdef MODEL_LANES
  for (int32_t i = 0; i < n; ++i) integers[i] = model_predict(rows + i * MODEL_N_COLUMNS);
  compare_integers(integers, expected, n, 2);
#endif
  check_bits(BITS(model_predict), 1);
}
#endif

int main(int argc, char **argv) {
  file = fopen(argc > 1 ? argv[1] : "vectors.txt", "r");
  if (!file) return 4;
  read_matrix("rows", MODEL_N_COLUMNS, given);
  for (int32_t i = 0; i < n * MODEL_N_COLUMNS; ++i) rows[i] = (model_value)given[i];
  read_matrix("bits", MODEL_N_BITS, bits);
  check_counts();
#if MODEL_IS_CLASSIFIER || MODEL_IS_REGRESSION
  check_scores();
#endif
#if MODEL_IS_CLASSIFIER
  check_classes();
#endif
  return fclose(file);
}
