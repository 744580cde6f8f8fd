/* A model exported by gatewise. */
#include "adult.h"
#define N_COLUMNS ADULT_N_COLUMNS
static void prepare(int i, double* row) { (void)i, (void)row; }
static int call(int i, const double* row) {
  (void)i;
  return adult_predict(row);
}
