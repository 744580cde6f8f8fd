#if MODEL_IS_CLASSIFIER
static void score(const int32_t *counts, double *scores) {
  int32_t k;
  for (k = 0; k < MODEL_N_GROUPS; ++k) scores[k] = counts[k] / TAU;
}

/* exp(-n / tau), as a product of powers[j] = exp(-2^j / tau), which needs no math.h. */
static double find_power(int32_t n) {
  double product = 1;
  int32_t j;
  for (j = 0; n >> j; ++j)
    if (n >> j & 1) product *= powers[j];
  return product;
}

/* The softmax of the scores. */
static void find_proba(const int32_t *counts, double *proba) {
  int32_t highest = counts[0], k;
  double sum = 0;
  for (k = 1; k < MODEL_N_GROUPS; ++k)
    if (counts[k] > highest) highest = counts[k];
  for (k = 0; k < MODEL_N_GROUPS; ++k) {
    proba[k] = find_power(highest - counts[k]);
    sum += proba[k];
  }
  for (k = 0; k < MODEL_N_GROUPS; ++k) proba[k] /= sum;
}
#elif MODEL_IS_REGRESSION
static void score(const int32_t *counts, double *scores) {
  int32_t k;
  for (k = 0; k < MODEL_N_GROUPS; ++k) {
    const volatile double share = SHARE(counts[k]);
    const volatile double product = share * scale[k]; /* volatile: rounded, never fused */
    scores[k] = product + offset[k];
  }
}
#endif
