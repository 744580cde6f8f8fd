/* LightGBM's trees as C by tl2cgen. */
#include "header.h"
#define N_COLUMNS 14
static union Entry entries[4096][N_COLUMNS];
static void prepare(int i, double* row) {
  for (int j = 0; j < N_COLUMNS; ++j)
    if (row[j] == row[j])
      entries[i][j].fvalue = row[j];
    else
      entries[i][j].missing = -1;
}
static int call(int i, const double* row) {
  double share;
  (void)row;
  predict(entries[i], 0, &share);
  return share > 0.5;
}
