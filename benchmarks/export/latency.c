/* Nanoseconds of a call for one raw row, the least of many passes over the rows of a file; call.h says what is called.
 */
#include <stdio.h>
#include <time.h>

#include "call.h"

#define MAX_ROWS 4096
#define N_PASSES 200

static double rows[MAX_ROWS][N_COLUMNS];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  FILE* file = argc > 1 ? fopen(argv[1], "rb") : 0;
  size_t n_rows, i;
  long n_true = 0;
  double least = 1e18;
  int pass;
  if (!file || !(n_rows = fread(rows, sizeof rows[0], MAX_ROWS, file))) return 1;
  for (i = 0; i < n_rows; ++i) prepare((int)i, rows[i]);
  for (pass = 0; pass < N_PASSES; ++pass) {
    const double start = now();
    for (i = 0, n_true = 0; i < n_rows; ++i) n_true += call((int)i, rows[i]);
    if (now() - start < least) least = now() - start;
  }
  printf("{\"ns\": %.1f, \"n_true\": %ld}\n", least / (double)n_rows, n_true);
  return 0;
}
