#include "support/pool.hpp"

#include <pthread.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace gatewise {
namespace {

// How many forks lie between the first process and this one: tells a child's threads from those of its parent.
std::atomic<unsigned> n_forks{0};

[[maybe_unused]] const int watch_forks =
    pthread_atfork(nullptr, nullptr, [] { n_forks.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

// The threads of one process, and what they share. A crew of the parent is neither joined nor freed, because its
// threads do not exist here and its locks may be held for ever; a pool exchanges it for a new one without a lock of its
// own.
class Pool::Crew {
 public:
  explicit Crew(unsigned n_workers) : n_workers_(n_workers) { workers_.reserve(n_workers); }

  ~Crew() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  bool is_of_this_process() const { return birth_ == n_forks.load(std::memory_order_relaxed); }

  void run(NothrowRef<void(size_t thread)> job) {
    const std::lock_guard one_job(job_mutex_);
    {
      const std::lock_guard lock(mutex_);
      start_workers();
      job_ = &job;
      n_busy_ = workers_.size();
      ++n_jobs_;
    }
    wake_.notify_all();
    job(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return n_busy_ == 0; });
  }

 private:
  void start_workers() {
    try {
      while (workers_.size() < n_workers_) workers_.emplace_back(&Crew::serve, this, workers_.size() + 1, n_jobs_);
    } catch (const std::system_error&) {
      // No more threads are to be had: those that there are do the work, and the next job asks again.
    }
  }

  void serve(size_t thread, size_t seen) {
    for (;;) {
      const NothrowRef<void(size_t)>* job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || n_jobs_ != seen; });
        if (stopping_) return;
        seen = n_jobs_;
        job = job_;
      }
      (*job)(thread);
      const std::lock_guard lock(mutex_);
      if (--n_busy_ == 0) done_.notify_one();
    }
  }

  const unsigned n_workers_;
  const unsigned birth_ = n_forks.load(std::memory_order_relaxed);
  std::vector<std::thread> workers_;
  std::mutex job_mutex_, mutex_;
  std::condition_variable wake_, done_;
  const NothrowRef<void(size_t)>* job_ = nullptr;
  size_t n_jobs_ = 0, n_busy_ = 0;
  bool stopping_ = false;
};

Pool::~Pool() {
  Crew* crew = crew_.load();
  if (crew && crew->is_of_this_process()) delete crew;
}

Pool::Crew& Pool::own_crew() {
  Crew* crew = crew_.load();
  if (crew && crew->is_of_this_process()) return *crew;
  auto fresh = std::make_unique<Crew>(threads_ - 1);
  // Another thread may have been faster; its crew is of this process, then.
  if (!crew_.compare_exchange_strong(crew, fresh.get())) return *crew;
  return *fresh.release();
}

void Pool::run(size_t n, Work work) {
  std::atomic<size_t> next{0};
  const auto job = [&](size_t thread) noexcept {
    if (thread >= n) return;
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) work(thread, i);
  };
  if (threads_ == 1 || n <= 1) return job(0);
  own_crew().run(job);
}

}  // namespace gatewise
