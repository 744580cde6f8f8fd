// Memory that is expensive to get: aligned, and in huge pages where that pays.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

namespace gatewise {

constexpr size_t kHugePageBytes = size_t{1} << 21;

// Zeroed, aligned memory; large ones ask for huge pages, because slots are read in random order.
template <typename Value>
class Buffer {
 public:
  explicit Buffer(size_t size) : size_(size) {
    const size_t bytes = std::max<size_t>(size * sizeof(Value), 64);
    align_ = std::align_val_t{bytes >= kHugePageBytes ? kHugePageBytes : 64};
    data_ = static_cast<Value*>(::operator new(bytes, align_));
#if defined(__linux__)
    if (bytes >= kHugePageBytes) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    std::memset(static_cast<void*>(data_), 0, bytes);
  }
  ~Buffer() { ::operator delete(data_, align_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Value* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  Value* data_;
  std::align_val_t align_;
};

}  // namespace gatewise
