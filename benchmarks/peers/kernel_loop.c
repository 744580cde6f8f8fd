/* Calls a peer's bare kernel for many words in a row, so that its time holds no Python. */
#include <stddef.h>

typedef void kernel_fn(const long long* in, long long* out);

void run_kernel(kernel_fn* kernel, const long long* in, long long* out, size_t n_words, size_t n_inputs) {
  for (size_t i = 0; i < n_words; ++i) kernel(in + i * n_inputs, out);
}
