// What the tests of pools share: jobs that know whether they were done.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "support/pool.hpp"

namespace gatewise {

inline void require(bool ok, const char* what) {
  if (ok) return;
  std::printf("%s\n", what);
  std::exit(1);
}

inline void check_job(Pool& pool, size_t n) {
  std::vector<std::atomic<unsigned>> seen(n);
  std::atomic<bool> in_range{true};
  pool.run(n, [&](size_t thread, size_t i) noexcept {
    if (thread >= pool.threads() || thread >= n) in_range = false;
    ++seen[i];
  });
  require(in_range, "threads must be below min(threads, n)");
  for (const std::atomic<unsigned>& each : seen) require(each == 1, "every index must be handed out once");
}

inline void check_jobs(Pool& pool) {
  for (const size_t n : {0, 1, 2, 3, 100}) check_job(pool, n);
}

}  // namespace gatewise
