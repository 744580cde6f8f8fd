/* scikit-learn's trees as C by emlearn. */
#include "trees.h"
#define N_COLUMNS 14
static float floats[4096][N_COLUMNS];
static void prepare(int i, double* row) {
  for (int j = 0; j < N_COLUMNS; ++j) floats[i][j] = (float)row[j];
}
static int call(int i, const double* row) {
  (void)row;
  return trees_predict(floats[i], N_COLUMNS);
}
