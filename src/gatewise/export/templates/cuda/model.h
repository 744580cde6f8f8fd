/* Written by gatewise; README.md says what the names mean. */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "sizes.h"

/* All functions give 0, or the number of a cudaError_t, and may be called by any number of threads at once.

   Functions of rows and bits take memory of the host, copy to the present device and wait for the answers, so give them
   many rows. A call has memory of the device to itself while it runs, and leaves it to later calls, which allocate only
   where they need more: what is kept is the most that ever ran at once, until model_free gives it back.

   Rows follow each other. Rows of bits are bits[MODEL_N_BITS][w], where w = (n + 31) / 32: bit i of row r is bit r % 32
   of bits[i][r / 32]. */

/* Number of true outputs of each group: counts[n][MODEL_N_GROUPS]. */
int model_counts_rows(const model_value *rows, int64_t n, int32_t *counts);
int model_counts_bits(const uint32_t *bits, int64_t n, int32_t *counts);

#if MODEL_IS_CLASSIFIER || MODEL_IS_REGRESSION
/* Scores of the classes, count / tau, or values: scores[n][MODEL_N_GROUPS]. */
int model_scores_rows(const model_value *rows, int64_t n, double *scores);
#endif

#if MODEL_IS_CLASSIFIER
/* Probabilities of the classes, the softmax of the scores: proba[n][MODEL_N_GROUPS]. */
int model_proba_rows(const model_value *rows, int64_t n, double *proba);

/* Classes with the highest counts, the lowest of several: classes[n]. */
int model_predict_rows(const model_value *rows, int64_t n, int32_t *classes);
int model_predict_bits(const uint32_t *bits, int64_t n, int32_t *classes);
#endif

/* Starts the evaluation of n rows, n < 2^21, on a cudaStream_t, without waiting for it; pointers are to memory of the
   device. `state` has room for MODEL_N_NODES * w words; if `rows` is 0, it starts with the rows as bits.
   counts[n][MODEL_N_GROUPS] and, unless it is 0, classes[n] are written. */
int model_enqueue(const model_value *rows, int32_t n, uint32_t *state, int32_t *counts, int32_t *classes, void *stream);

/* Gives back what calls that are done have left, on all devices. Other calls go on, and may follow. */
int model_free(void);

#ifdef __cplusplus
}
#endif

#endif
