// Memory that is expensive to get: aligned, in huge pages where that pays, and kept between calls.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace gatewise {

constexpr size_t kHugePageBytes = size_t{1} << 21;

// Zeroed, aligned memory; large ones ask for huge pages, because slots are read in random order.
template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t size) : size_(size) {
    const size_t bytes = std::max<size_t>(size * sizeof(T), 64);
    align_ = std::align_val_t{bytes >= kHugePageBytes ? kHugePageBytes : 64};
    data_ = static_cast<T*>(::operator new(bytes, align_));
#if defined(__linux__)
    if (bytes >= kHugePageBytes) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    std::memset(static_cast<void*>(data_), 0, bytes);
  }
  ~Buffer() { ::operator delete(data_, align_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  T* data_;
  std::align_val_t align_;
};

// Buffers that wait for the next call; safe to use from several threads.
template <typename T>
class BufferPool {
 public:
  // A buffer of at least `size` values, whatever they are.
  std::unique_ptr<Buffer<T>> take(size_t size) {
    {
      const std::lock_guard lock(mutex_);
      for (std::unique_ptr<Buffer<T>>& buffer : idle_) {
        if (buffer->size() < size) continue;
        std::swap(buffer, idle_.back());
        std::unique_ptr<Buffer<T>> taken = std::move(idle_.back());
        idle_.pop_back();
        return taken;
      }
    }
    return std::make_unique<Buffer<T>>(size);
  }

  void give(std::unique_ptr<Buffer<T>> buffer) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(buffer));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer<T>>> idle_;
};

}  // namespace gatewise
