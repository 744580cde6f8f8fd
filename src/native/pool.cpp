#include "pool.hpp"

namespace gatewise {

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Pool::run(size_t n, const std::function<void(size_t, size_t)>& work) {
  std::atomic<size_t> next{0};
  const std::function<void(size_t)> job = [&](size_t thread) {
    if (thread >= n) return;
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) work(thread, i);
  };
  if (n_workers_ == 0 || n <= 1) return job(0);
  const std::lock_guard one_job(job_mutex_);
  {
    const std::lock_guard lock(mutex_);
    while (workers_.size() < n_workers_) workers_.emplace_back(&Pool::serve, this, workers_.size() + 1);
    job_ = &job;
    n_busy_ = n_workers_;
    ++generation_;
  }
  wake_.notify_all();
  job(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return n_busy_ == 0; });
}

void Pool::serve(size_t thread) {
  size_t seen = 0;
  for (;;) {
    const std::function<void(size_t)>* job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
      job = job_;
    }
    (*job)(thread);
    const std::lock_guard lock(mutex_);
    if (--n_busy_ == 0) done_.notify_one();
  }
}

}  // namespace gatewise
