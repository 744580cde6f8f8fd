// A pool of threads that share one job at a time: indices 0 .. n - 1, each handed out once.
#pragma once

#include <atomic>
#include <cstddef>

#include "support/nothrow_ref.hpp"

namespace gatewise {

// Survives fork(): a child has none of its parent's threads, and their locks stay as they were at the fork, so it
// leaves them alone and starts threads of its own.
class Pool {
 public:
  using Work = NothrowRef<void(size_t thread, size_t index)>;

  // The calling thread works too, so `threads` - 1 are started, at the first job that needs them; fewer, if the system
  // refuses them.
  explicit Pool(unsigned threads) : threads_(threads) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned threads() const { return threads_; }

  // Calls work(thread, index) once for every index, with thread < min(threads, n).
  // Safe to call from several threads: one job runs after the other.
  void run(size_t n, Work work);

 private:
  class Crew;
  Crew& own_crew();

  const unsigned threads_;
  std::atomic<Crew*> crew_{nullptr};
};

}  // namespace gatewise
