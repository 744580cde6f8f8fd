/* Written by gatewise; README.md says what the names mean. */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "sizes.h"

/* Rows that are evaluated at once: 64, 32, 16 or 8; with GCC and Clang also 128, 256 or 512. */
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

/* Number of true outputs of each group: counts[MODEL_N_GROUPS] for a row, counts[n][MODEL_N_GROUPS] for n rows, which
   follow each other. Blocks are MODEL_LANES rows of bits each, the last one maybe fewer: bit i of row l of block b is
   bit l of blocks[b * MODEL_N_BITS + i]. */
void model_counts(const model_value *row, int32_t *counts);
void model_counts_rows(const model_value *rows, int32_t n, int32_t *counts);
void model_counts_blocks(const model_word *blocks, int32_t n, int32_t *counts);

#if MODEL_IS_CLASSIFIER || MODEL_IS_REGRESSION
/* Scores of the classes, count / tau, or values: scores[MODEL_N_GROUPS] for a row, scores[n][MODEL_N_GROUPS] for n. */
void model_scores(const model_value *row, double *scores);
void model_scores_rows(const model_value *rows, int32_t n, double *scores);
#endif

#if MODEL_IS_CLASSIFIER
/* Probabilities of the classes, the softmax of the scores, in the same shapes. */
void model_proba(const model_value *row, double *proba);
void model_proba_rows(const model_value *rows, int32_t n, double *proba);

/* The class with the highest count, the lowest of several: classes[n] for n rows. */
int32_t model_predict(const model_value *row);
void model_predict_rows(const model_value *rows, int32_t n, int32_t *classes);
void model_predict_blocks(const model_word *blocks, int32_t n, int32_t *classes);

/* The label of a class, in UTF-8. */
const char *model_label(int32_t index);
#endif

#if MODEL_IS_REGRESSION
/* What model_scores gives, as a number if there is one only. */
#if MODEL_N_GROUPS == 1
double model_predict(const model_value *row);
#else
void model_predict(const model_value *row, double *values);
#endif
void model_predict_rows(const model_value *rows, int32_t n, double *values);
#endif

#if MODEL_HAS_CODES
/* The number that stands for a string in a column of categories, -1 for any other. */
int32_t model_code(int32_t column, const char *text);
#endif

#ifdef __cplusplus
}
#endif

#endif
