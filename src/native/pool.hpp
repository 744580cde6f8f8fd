// A pool of threads that share one job at a time: indices 0 .. n - 1, each handed out once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gatewise {

class Pool {
 public:
  // The calling thread works too, so `threads` - 1 are started, at the first job that needs them.
  explicit Pool(unsigned threads) : n_workers_(threads - 1) {}
  unsigned threads() const { return n_workers_ + 1; }
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Calls work(thread, index) once for every index, with thread < min(threads, n); `work` must not throw.
  // Safe to call from several threads: one job runs after the other.
  void run(size_t n, const std::function<void(size_t thread, size_t index)>& work);

 private:
  void serve(size_t thread);

  const unsigned n_workers_;
  std::vector<std::thread> workers_;
  std::mutex job_mutex_, mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(size_t)>* job_ = nullptr;
  size_t generation_ = 0;
  unsigned n_busy_ = 0;
  bool stopping_ = false;
};

}  // namespace gatewise
