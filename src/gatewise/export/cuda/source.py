"""The header and the source of an export to CUDA C++.

In: a `Source` whose netlist is sorted. Out: text.
Invariant: a kernel never waits for another thread of its own launch: a launch computes the gates of one level, so the
order of launches is all the order there is, and the source is plain C++ but for the launches.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from gatewise.export.c.head import write_score
from gatewise.export.c.source import C_TYPES, Source
from gatewise.export.c.table import find_operations
from gatewise.export.emit import Writer, format_float
from gatewise.export.lower import Netlist
from gatewise.export.questions import Asked, list_questions
from gatewise.heads import Classes

STATE_BYTES = 2**25
"""What the words of the rows that are evaluated at once may take: what caches of GPUs hold."""

SLICE = 128
"""Outputs that a thread counts."""

HEADER = """
/* Pointers are to memory of the host. All functions give 0, or the number of a cudaError_t. */

/* Number of true outputs of each group of n rows, one behind the other: counts[n][MODEL_N_GROUPS]. */
int model_rows_counts(const model_value *rows, int64_t n, int32_t *counts);

/* The same for n rows of bits: with w = (n + 31) / 32, row r is bit r % 32 of bits[i * w + r / 32] for every bit i. */
int model_bits_counts(const uint32_t *bits, int64_t n, int32_t *counts);
"""

CLASSES_HEADER = """
/* Classes with the highest counts, the lowest of several: classes[n]. */
int model_rows_classes(const model_value *rows, int64_t n, int32_t *classes);
int model_bits_classes(const uint32_t *bits, int64_t n, int32_t *classes);
"""

SCORES_HEADER = """
/* Scores of n rows: scores[n][MODEL_N_GROUPS]. */
int model_rows_scores(const model_value *rows, int64_t n, double *scores);
"""

DEVICE_HEADER = """
/* Pointers are to memory of the device. Starts the evaluation of n_rows rows on a cudaStream_t, without waiting for it.
   With w = (n_rows + 31) / 32, state has room for MODEL_N_NODES * w words; n_rows is below 2^21.
   If rows is 0, the state starts with the bits of the rows, like `bits` above.
   counts[n_rows][MODEL_N_GROUPS] and, unless it is 0, classes[n_rows] are written. */
int model_enqueue(const model_value *rows, int32_t n_rows, uint32_t *state, int32_t *counts, int32_t *classes,
                  void *stream);
"""

OPENING = """
#ifdef __CUDACC__
#include <cuda_runtime.h>
#define LAUNCH(kernel, grid, block, stream, ...) kernel<<<grid, block, 0, stream>>>(__VA_ARGS__)
#else
#include "cpu.h"
#endif
#include <math.h>

#include "model_.h"

namespace {
"""

KERNELS = """
/* Bits of 32 rows, one of them a thread; kinds: 0 greater, 1 equal, 2 missing. */
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

/* A gate of 32 rows a thread. Threads of a warp share the gate, and their words are neighbors. Bit 0, 1 and 2 of its
   operation: whether it is a sum modulo 2 with the first operand, with the second, with their product. */
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

/* Counts a slice of the outputs of a group, {first, number, group, sign}, of 32 rows a thread, bit-sliced. */
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

/* The group with the highest count, the lowest of several, of a row a thread. */
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
"""

HOST = """
/* Memory of the device for n rows, or for 32 * MAX_WORDS of them if there are more; freed with this. */
struct Memory {
  uint32_t *state = nullptr;
  int32_t *counts = nullptr, *classes = nullptr;
  model_value *rows = nullptr;
  cudaError_t error = cudaSuccess;

  template <typename T>
  void allocate(T **pointer, size_t n) {
    if (error == cudaSuccess) error = cudaMalloc((void **)pointer, (n ? n : 1) * sizeof(T));
  }
  explicit Memory(int64_t n) {
    const size_t n_words = (size_t)(n < 32 * MAX_WORDS ? (n + 31) / 32 : MAX_WORDS);
    allocate(&state, n_words * MODEL_N_NODES);
    allocate(&counts, 32 * n_words * MODEL_N_GROUPS);
    allocate(&classes, 32 * n_words);
    allocate(&rows, 32 * n_words * MODEL_N_COLUMNS);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() {
    cudaFree(state);
    cudaFree(counts);
    cudaFree(classes);
    cudaFree(rows);
  }
};

/* Of rows, or of bits if rows is 0; counts or classes may be 0. */
int run(const model_value *rows, const uint32_t *bits, int64_t n, int32_t *counts, int32_t *classes) {
  Memory memory(n > 0 ? n : 0);
  const size_t pitch = (size_t)((n + 31) / 32) * 4;
  for (int64_t first = 0; first < n && memory.error == cudaSuccess; first += 32 * MAX_WORDS) {
    const int32_t n_rows = (int32_t)(n - first < 32 * MAX_WORDS ? n - first : 32 * MAX_WORDS);
    const size_t width = (size_t)((n_rows + 31) / 32) * 4;
    cudaError_t &error = memory.error;
    if (rows && MODEL_N_COLUMNS)
      error = cudaMemcpy(memory.rows, rows + (size_t)first * MODEL_N_COLUMNS,
                         (size_t)n_rows * MODEL_N_COLUMNS * sizeof(model_value), cudaMemcpyHostToDevice);
    else if (MODEL_N_BITS)
      error = cudaMemcpy2D(memory.state, width, bits + first / 32, pitch, width, MODEL_N_BITS, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
      error = (cudaError_t)model_enqueue(rows ? memory.rows : nullptr, n_rows, memory.state, memory.counts,
                                         classes ? memory.classes : nullptr, nullptr);
    if (error == cudaSuccess && counts && MODEL_N_GROUPS)
      error = cudaMemcpy(counts + (size_t)first * MODEL_N_GROUPS, memory.counts,
                         (size_t)n_rows * MODEL_N_GROUPS * 4, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess && classes)
      error = cudaMemcpy(classes + first, memory.classes, (size_t)n_rows * 4, cudaMemcpyDeviceToHost);
  }
  return (int)memory.error;
}
"""

FUNCTIONS = """
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

int model_rows_counts(const model_value *rows, int64_t n, int32_t *counts) {
  return run(rows, nullptr, n, counts, nullptr);
}

int model_bits_counts(const uint32_t *bits, int64_t n, int32_t *counts) {
  return run(nullptr, bits, n, counts, nullptr);
}
"""

CLASSES = """
int model_rows_classes(const model_value *rows, int64_t n, int32_t *classes) {
  return run(rows, nullptr, n, nullptr, classes);
}

int model_bits_classes(const uint32_t *bits, int64_t n, int32_t *classes) {
  return run(nullptr, bits, n, nullptr, classes);
}
"""

SCORES = """
int model_rows_scores(const model_value *rows, int64_t n, double *scores) {
  int32_t counts[1024][MODEL_N_GROUPS];
  int error = 0;
  for (int64_t first = 0; first < n && !error; first += 1024) {
    const int64_t n_rows = n - first < 1024 ? n - first : 1024;
    error = model_rows_counts(rows + first * MODEL_N_COLUMNS, n_rows, counts[0]);
    for (int64_t row = 0; row < n_rows; ++row) score(counts[row], scores + (first + row) * MODEL_N_GROUPS);
  }
  return error;
}
"""


def write_header(source: Source) -> str:
    """The header."""
    writer = Writer("")
    writer.lines("/* Written by gatewise; README.md says what the names mean. */\n#ifndef MODEL_H\n#define MODEL_H\n")
    writer.lines('#include <stdint.h>\n\n#ifdef __cplusplus\nextern "C" {\n#endif\n')
    circuit = source.circuit
    sizes = {"COLUMNS": source.encoder.n_columns, "BITS": circuit.n_inputs, "GROUPS": circuit.n_groups}
    for size, value in (sizes | {"NODES": source.netlist.n_nodes}).items():
        writer.line(f"#define MODEL_N_{size} {value}")
    writer.section(f"typedef {C_TYPES[source.dtype]} model_value; /* of a row */")
    parts = [HEADER]
    if isinstance(source.head, Classes):
        parts.append(CLASSES_HEADER)
    if source.head is not None:
        parts.append(SCORES_HEADER)
    for part in (*parts, DEVICE_HEADER, "#ifdef __cplusplus\n}\n#endif", "#endif"):
        writer.section(part)
    return source.rename(writer.text())


def write_source(source: Source, asked: Sequence[Asked]) -> str:
    """The source."""
    writer = Writer("  ")
    writer.lines(OPENING.replace("model_.h", f"{source.name}.h"))
    _write_tables(writer, source, asked)
    writer.section(KERNELS)
    writer.section(HOST)
    if source.head is not None:
        write_score(source.head, writer)
    writer.section("}  // namespace")
    writer.section(FUNCTIONS)
    if isinstance(source.head, Classes):
        writer.section(CLASSES)
    if source.head is not None:
        writer.section(SCORES)
    return source.rename(writer.text())


def _write_tables(writer: Writer, source: Source, asked: Sequence[Asked]) -> None:
    netlist = source.netlist
    questions = list_questions(asked)
    writer.line(f"#define IS_MISSING(x) {'((x) != (x))' if source.dtype[0] == 'f' else 'false'}")
    _write_array(writer, "int32_t", "asked[][2]", (f"{{{q.column}, {q.kind}}}" for q in questions), "{0, 0}")
    constants = (format_value(question.constant, source.dtype) for question in questions)
    _write_array(writer, "model_value", "constants[]", constants, "0")
    coded = zip((netlist.a << 3 | find_operations(netlist.gate)).tolist(), netlist.b.tolist(), strict=True)
    _write_array(writer, "uint32_t", "gates[][2]", (f"{{{a}, {b}}}" for a, b in coded), "{0, 0}")
    _write_array(writer, "int32_t", "bases[]", (str(group.base) for group in netlist.groups), "0")
    _write_array(writer, "uint32_t", "counted[]", map(str, netlist.read_nodes().tolist()), "0")
    slices = _slice_groups(netlist)
    rows = (f"{{{first}, {n}, {group}, {sign}}}" for first, n, group, sign in slices)
    _write_array(writer, "int32_t", "slices[][4]", rows, "{0, 0, 0, 0}")
    level = netlist.levels()[netlist.n_inputs :]
    cuts = np.searchsorted(level, np.arange(1, level.max(initial=0) + 2)).tolist()
    writer.line("const int32_t levels[] = { /* the first gate of each */")
    writer.wrap(map(str, cuts))
    writer.line("};")
    sizes = {"N_SLICES": len(slices), "N_LEVELS": len(cuts) - 1, "MAX_WORDS": count_words(netlist)}
    for size, value in sizes.items():
        writer.line(f"#define {size} {value}")


def _write_array(writer: Writer, kind: str, name: str, items: Iterable[str], empty: str) -> None:
    with writer.block(f"__device__ const {kind} {name} = {{", "};"):
        writer.wrap(list(items) or [empty])


def _slice_groups(netlist: Netlist) -> list[tuple[int, int, int, int]]:
    """First position among counted nodes, number of them, group and sign, of pieces that a thread counts."""
    slices, first = [], 0
    for k, group in enumerate(netlist.groups):
        for nodes, sign in ((group.added, 1), (group.subtracted, -1)):
            starts = range(0, len(nodes), SLICE)
            slices += [(first + start, min(SLICE, len(nodes) - start), k, sign) for start in starts]
            first += len(nodes)
    return slices


def count_words(netlist: Netlist) -> int:
    """How many words of rows are evaluated at a time: as many as `STATE_BYTES` hold, but 32 for a warp to share."""
    words = STATE_BYTES // (4 * max(netlist.n_nodes, 1)) // 32 * 32
    return min(max(words, 32), 2**15)


def format_value(value: float | int, dtype: str) -> str:
    """A constant of a dtype as C++; NaN and infinities by the names that math.h has for them."""
    if dtype[0] != "f":
        return f"(-{-value - 1} - 1)" if value < 0 else str(value)
    if not math.isfinite(value):
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return format_float(value) + ("f" if dtype == "float32" else "")
