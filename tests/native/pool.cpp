// Pools of threads: every index once, jobs from several threads at a time, and threads that the system refuses.
#include <pthread.h>

#include <cstdio>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#include "jobs.hpp"

namespace gw = gatewise;

namespace {

using gw::check_jobs;
using gw::require;

// What may throw is no work.
constexpr auto kQuiet = [](size_t, size_t) noexcept {};
constexpr auto kThrowing = [](size_t, size_t) {};
static_assert(std::is_constructible_v<gw::Pool::Work, decltype(kQuiet)>);
static_assert(!std::is_constructible_v<gw::Pool::Work, decltype(kThrowing)>);

// With stacks larger than memory no thread starts, and the caller does all the work.
void check_refusal() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  require(pthread_attr_setstacksize(&attributes, size_t{1} << 50) == 0, "any size of stacks must be accepted");
  require(pthread_setattr_default_np(&attributes) == 0, "attributes must be accepted");
  gw::Pool pool(8);
  check_jobs(pool);
  bool is_refused = false;
  try {
    std::thread([] {}).join();
  } catch (const std::system_error&) {
    is_refused = true;
  }
  require(is_refused, "threads must be refused");
}

}  // namespace

int main() {
  for (const unsigned threads : {1u, 2u, 5u}) {
    gw::Pool pool(threads);
    check_jobs(pool);
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) callers.emplace_back([&] { check_jobs(pool); });
    for (std::thread& caller : callers) caller.join();
  }
  check_refusal();
  std::printf("pools hand out every index once\n");
  return 0;
}
