// Rows that threads share in chunks.
#pragma once

#include <algorithm>
#include <cstddef>

#include "support/pool.hpp"

namespace gatewise::boost {

constexpr size_t kRowsPerChunk = 4096;

constexpr size_t count_chunks(size_t n_rows) { return (n_rows + kRowsPerChunk - 1) / kRowsPerChunk; }

// Calls work(thread, chunk, from, to) for the rows from .. to - 1 of every chunk.
template <typename Work>
void for_chunks(Pool& pool, size_t n_rows, const Work& work) {
  pool.run(count_chunks(n_rows), [&](size_t thread, size_t chunk) noexcept {
    work(thread, chunk, chunk * kRowsPerChunk, std::min(n_rows, (chunk + 1) * kRowsPerChunk));
  });
}

}  // namespace gatewise::boost
