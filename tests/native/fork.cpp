// Pools of threads in processes that are forked at any moment.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "jobs.hpp"
#include "support/idle.hpp"

namespace gw = gatewise;

namespace {

using gw::check_job;
using gw::check_jobs;
using gw::require;

// Children end as programs do, with destructors of pools that their parent's threads served.
template <typename Work>
pid_t start_child(const Work& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  require(child >= 0, "fork must succeed");
  if (child > 0) return child;
  work();
  std::exit(0);
}

void wait_for(pid_t child) {
  int status = 0;
  require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "child must end with 0");
}

void check_forks() {
  const auto pool = std::make_unique<gw::Pool>(3);
  check_jobs(*pool);
  for (int i = 0; i < 10; ++i) {
    wait_for(start_child([&] {
      check_jobs(*pool);
      wait_for(start_child([&] { check_jobs(*pool); }));
    }));
    check_jobs(*pool);
  }
}

// One pool is used and one is only destroyed, by the child of a process that used both.
void check_destruction() {
  for (const bool uses : {false, true}) {
    auto pool = std::make_unique<gw::Pool>(2);
    check_jobs(*pool);
    wait_for(start_child([&] {
      if (uses) check_jobs(*pool);
      pool.reset();
    }));
  }
}

#ifdef __SANITIZE_ADDRESS__
// That sanitizer's allocator leaves a child the locks that other threads held at the fork: any of its allocations may
// wait for ever.
void check_busy_forks() {}
#else
// Forks while other threads hold the pool's locks, and items of an Idle.
void check_busy_forks() {
  gw::Pool pool(2);
  gw::Idle<int> idle;
  std::atomic<bool> stop{false};
  const auto use = [&] {
    std::unique_ptr<int> item = idle.take();
    check_job(pool, 20);
    idle.give(item ? std::move(item) : std::make_unique<int>(1));
  };
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      while (!stop) use();
    });
  for (int i = 0; i < 50; ++i) wait_for(start_child(use));
  stop = true;
  for (std::thread& other : others) other.join();
}
#endif

}  // namespace

int main() {
  check_forks();
  check_destruction();
  check_busy_forks();
  std::printf("pools survive forks\n");
  return 0;
}
