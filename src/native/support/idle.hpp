// Things that are expensive to make and wait for the next call.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace gatewise {

// Safe to use from several threads, and after a fork: every place is one atomic pointer, so that there is no lock that
// another thread could hold at the fork, for the child to wait for.
template <typename Item>
class Idle {
 public:
  Idle() = default;
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;
  ~Idle() {
    for (std::atomic<Item*>& place : places_) delete place.load();
  }

  // One of those that were given, or null.
  std::unique_ptr<Item> take() noexcept {
    for (std::atomic<Item*>& place : places_) {
      if (!place.load(std::memory_order_relaxed)) continue;
      if (Item* item = place.exchange(nullptr)) return std::unique_ptr<Item>(item);
    }
    return nullptr;
  }

  // Kept, unless all places are taken.
  void give(std::unique_ptr<Item> item) noexcept {
    for (std::atomic<Item*>& place : places_) {
      Item* nobody = nullptr;
      if (!place.compare_exchange_strong(nobody, item.get())) continue;
      item.release();
      return;
    }
  }

 private:
  static constexpr size_t kPlaces = 16;  // callers at a time that find something waiting
  std::atomic<Item*> places_[kPlaces] = {};
};

}  // namespace gatewise
