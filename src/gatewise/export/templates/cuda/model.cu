#ifdef __CUDACC__
#include <cuda_runtime.h>
#define LAUNCH(kernel, grid, block, stream, ...) kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
#else
#include "cpu.h"
#endif
#include <math.h>
#include <stdlib.h>

#include <mutex>

#include "model.h"

namespace {

#include "tables.h"

/* One bit of 32 rows per thread; kinds: 0 greater, 1 equal, 2 missing. */
__global__ void encode_rows(const model_value *rows, int32_t n_rows, int32_t n_words, uint32_t *state) {
  const int32_t bit = (int32_t)(blockIdx.x * blockDim.y + threadIdx.y);
  const int32_t word = (int32_t)(blockIdx.y * blockDim.x + threadIdx.x);
  if (bit >= MODEL_N_BITS || word >= n_words) return;
  const int32_t column = asked[bit][0], kind = asked[bit][1];
  const model_value constant = constants[bit];
  const int32_t n = n_rows - 32 * word < 32 ? n_rows - 32 * word : 32;
  const model_value *value = rows + (size_t)32 * word * MODEL_N_COLUMNS + column;
  uint32_t found = 0;
  for (int32_t lane = 0; lane < n; ++lane, value += MODEL_N_COLUMNS) {
    const model_value x = *value;
    const bool is_true = kind == 0 ? x > constant : kind == 1 ? x == constant : IS_MISSING(x);
    found |= (uint32_t)is_true << lane;
  }
  state[(size_t)bit * n_words + word] = found;
}

/* One gate of 32 rows per thread. Threads of a warp share the gate, and their words are neighbors. Bit 0, 1 and 2 of
   its operation: whether it is a sum modulo 2 with the first operand, with the second, with their product. */
__global__ void evaluate_level(int32_t first, int32_t n, int32_t n_words, uint32_t *state) {
  const int32_t gate = (int32_t)(blockIdx.x * blockDim.y + threadIdx.y);
  const int32_t word = (int32_t)(blockIdx.y * blockDim.x + threadIdx.x);
  if (gate >= n || word >= n_words) return;
  const uint32_t coded = gates[first + gate][0];
  const uint32_t a = state[(size_t)(coded >> 3) * n_words + word];
  const uint32_t b = state[(size_t)gates[first + gate][1] * n_words + word];
  state[(size_t)(MODEL_N_BITS + first + gate) * n_words + word] =
      (a & (0u - (coded & 1))) ^ (b & (0u - (coded >> 1 & 1))) ^ (a & b & (0u - (coded >> 2 & 1)));
}

__global__ void start_counts(int32_t n_rows, int32_t *counts) {
  const int32_t row = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= n_rows) return;
  for (int32_t k = 0; k < MODEL_N_GROUPS; ++k) counts[(size_t)row * MODEL_N_GROUPS + k] = bases[k];
}

/* Counts a slice of the outputs of a group, {first, number, group, sign}, for 32 rows per thread, bit-sliced. */
__global__ void count_slices(const uint32_t *state, int32_t n_rows, int32_t n_words, int32_t *counts) {
  const int32_t slice = (int32_t)(blockIdx.x * blockDim.y + threadIdx.y);
  const int32_t word = (int32_t)(blockIdx.y * blockDim.x + threadIdx.x);
  if (slice >= N_SLICES || word >= n_words) return;
  const int32_t first = slices[slice][0], end = first + slices[slice][1], k = slices[slice][2];
  uint32_t planes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int32_t i = first; i < end; ++i) {
    uint32_t carry = state[(size_t)counted[i] * n_words + word];
    for (int32_t j = 0; j < 8; ++j) {
      const uint32_t digit = planes[j];
      planes[j] = digit ^ carry;
      carry &= digit;
    }
  }
  const int32_t n = n_rows - 32 * word < 32 ? n_rows - 32 * word : 32;
  for (int32_t lane = 0; lane < n; ++lane) {
    int32_t count = 0;
    for (int32_t j = 0; j < 8; ++j) count |= (int32_t)(planes[j] >> lane & 1) << j;
    atomicAdd(counts + (size_t)(32 * word + lane) * MODEL_N_GROUPS + k, slices[slice][3] * count);
  }
}

/* The group with the highest count, the lowest of several, of one row per thread. */
__global__ void find_best(const int32_t *counts, int32_t n_rows, int32_t *classes) {
  const int32_t row = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= n_rows) return;
  const int32_t *found = counts + (size_t)row * MODEL_N_GROUPS;
  int32_t best = 0;
  for (int32_t k = 1; k < MODEL_N_GROUPS; ++k)
    if (found[k] > found[best]) best = k;
  classes[row] = best;
}

/* Blocks of 8 things by 32 words, as many as cover all. */
dim3 cover(int32_t n_things, int32_t n_words) {
  return dim3((unsigned)((n_things + 7) / 8), (unsigned)((n_words + 31) / 32));
}

/* Memory of a device. A call has some to itself, and leaves it to calls that come later. */
struct Memory {
  char *start;
  size_t size;
  int device;
  Memory *next;
};

Memory *kept = nullptr; /* by no call at present */
std::mutex kept_mutex;

/* Takes what is kept for the present device, if there is any, and makes it large enough. */
cudaError_t take_memory(size_t size, Memory *memory) {
  *memory = {nullptr, 0, 0, nullptr};
  cudaError_t error = cudaGetDevice(&memory->device);
  {
    const std::lock_guard<std::mutex> lock(kept_mutex);
    Memory **link = &kept;
    while (*link && (*link)->device != memory->device) link = &(*link)->next;
    if (Memory *found = *link) {
      *link = found->next;
      *memory = *found;
      free(found);
    }
  }
  if (error != cudaSuccess || memory->size >= size) return error;
  cudaFree(memory->start);
  memory->start = nullptr;
  memory->size = 0;
  error = cudaMalloc((void **)&memory->start, size);
  if (error != cudaSuccess) { /* once more, without what is kept for calls that are yet to come */
    (void)cudaGetLastError();
    model_free();
    error = cudaMalloc((void **)&memory->start, size);
    if (error != cudaSuccess) (void)cudaGetLastError();
  }
  if (error == cudaSuccess) memory->size = size;
  return error;
}

void keep_memory(const Memory &memory) {
  Memory *added = memory.start ? (Memory *)malloc(sizeof(Memory)) : nullptr;
  if (!added) {
    cudaFree(memory.start);
    return;
  }
  const std::lock_guard<std::mutex> lock(kept_mutex);
  *added = memory;
  added->next = kept;
  kept = added;
}

/* Arrays start where a warp reads 128 bytes at once. */
size_t round_up(size_t n_bytes) { return (n_bytes + 255) / 256 * 256; }

/* Of rows, or of bits if rows is 0; counts or classes may be 0. Rows go to the device 32 * MAX_WORDS at a time. */
int run(const model_value *rows, const uint32_t *bits, int64_t n, int32_t *counts, int32_t *classes) {
  if (n <= 0) return 0;
  const size_t most = (size_t)(n < 32 * MAX_WORDS ? (n + 31) / 32 * 32 : 32 * MAX_WORDS);
  const size_t row_bytes = MODEL_N_COLUMNS * sizeof(model_value), pitch = (size_t)((n + 31) / 32) * 4;
  const size_t at_rows = round_up(most / 32 * 4 * MODEL_N_NODES), at_counts = at_rows + round_up(most * row_bytes);
  const size_t at_classes = at_counts + round_up(most * 4 * MODEL_N_GROUPS);
  Memory memory;
  cudaError_t error = take_memory(at_classes + most * 4, &memory);
  uint32_t *state = (uint32_t *)memory.start;
  model_value *own_rows = (model_value *)(memory.start + at_rows);
  int32_t *own_counts = (int32_t *)(memory.start + at_counts), *own_classes = (int32_t *)(memory.start + at_classes);
  for (int64_t first = 0; first < n && error == cudaSuccess; first += 32 * MAX_WORDS) {
    const int32_t n_rows = (int32_t)(n - first < 32 * MAX_WORDS ? n - first : 32 * MAX_WORDS);
    const size_t width = (size_t)((n_rows + 31) / 32) * 4, n_counts = (size_t)n_rows * MODEL_N_GROUPS;
    if (rows && MODEL_N_COLUMNS)
      error = cudaMemcpy(own_rows, rows + first * MODEL_N_COLUMNS, n_rows * row_bytes, cudaMemcpyHostToDevice);
    else if (MODEL_N_BITS)
      error = cudaMemcpy2D(state, width, bits + first / 32, pitch, width, MODEL_N_BITS, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
      error = (cudaError_t)model_enqueue(rows ? own_rows : nullptr, n_rows, state, own_counts,
                                         classes ? own_classes : nullptr, nullptr);
    if (error == cudaSuccess && counts && MODEL_N_GROUPS)
      error = cudaMemcpy(counts + first * MODEL_N_GROUPS, own_counts, 4 * n_counts, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess && classes)
      error = cudaMemcpy(classes + first, own_classes, (size_t)n_rows * 4, cudaMemcpyDeviceToHost);
  }
  keep_memory(memory);
  return (int)error;
}

#include "score.h"

}  // namespace

int model_enqueue(const model_value *rows, int32_t n_rows, uint32_t *state, int32_t *counts, int32_t *classes,
                  void *stream_pointer) {
  const cudaStream_t stream = (cudaStream_t)stream_pointer;
  const int32_t n_words = (n_rows + 31) / 32;
  const dim3 block(32, 8), row_block(256), row_grid((unsigned)((n_rows + 255) / 256));
  if (n_rows <= 0) return 0;
  if (rows && MODEL_N_BITS)
    LAUNCH(encode_rows, cover(MODEL_N_BITS, n_words), block, stream, rows, n_rows, n_words, state);
  for (int32_t level = 0; level < N_LEVELS; ++level) {
    const int32_t first = levels[level], n = levels[level + 1] - first;
    LAUNCH(evaluate_level, cover(n, n_words), block, stream, first, n, n_words, state);
  }
  LAUNCH(start_counts, row_grid, row_block, stream, n_rows, counts);
  if (N_SLICES) LAUNCH(count_slices, cover(N_SLICES, n_words), block, stream, state, n_rows, n_words, counts);
  if (classes) LAUNCH(find_best, row_grid, row_block, stream, counts, n_rows, classes);
  return (int)cudaGetLastError();
}

int model_counts_rows(const model_value *rows, int64_t n, int32_t *counts) {
  return run(rows, nullptr, n, counts, nullptr);
}

int model_counts_bits(const uint32_t *bits, int64_t n, int32_t *counts) {
  return run(nullptr, bits, n, counts, nullptr);
}

#if MODEL_IS_CLASSIFIER || MODEL_IS_REGRESSION
typedef void from_counts(const int32_t *counts, double *result);

static int find_rows(const model_value *rows, int64_t n, from_counts *find, double *result) {
  int32_t *counts = (int32_t *)malloc((size_t)(n > 0 ? n : 1) * MODEL_N_GROUPS * sizeof(int32_t));
  const int error = counts ? model_counts_rows(rows, n, counts) : (int)cudaErrorMemoryAllocation;
  for (int64_t row = 0; row < n && !error; ++row) find(counts + row * MODEL_N_GROUPS, result + row * MODEL_N_GROUPS);
  free(counts);
  return error;
}

int model_scores_rows(const model_value *rows, int64_t n, double *scores) { return find_rows(rows, n, score, scores); }
#endif

#if MODEL_IS_CLASSIFIER
int model_proba_rows(const model_value *rows, int64_t n, double *proba) {
  return find_rows(rows, n, find_proba, proba);
}

int model_predict_rows(const model_value *rows, int64_t n, int32_t *classes) {
  return run(rows, nullptr, n, nullptr, classes);
}

int model_predict_bits(const uint32_t *bits, int64_t n, int32_t *classes) {
  return run(nullptr, bits, n, nullptr, classes);
}
#endif

int model_free(void) {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  const std::lock_guard<std::mutex> lock(kept_mutex);
  while (Memory *memory = kept) {
    kept = memory->next;
    cudaError_t failed = cudaSetDevice(memory->device);
    if (failed == cudaSuccess) failed = cudaFree(memory->start);
    if (error == cudaSuccess) error = failed;
    free(memory);
  }
  const cudaError_t failed = cudaSetDevice(device);
  return (int)(error == cudaSuccess ? failed : error);
}
