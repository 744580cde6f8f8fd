// Memory that will be read next: kernels fetch it while gates or tests keep the core, not the memory, busy.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gatewise {

struct Upcoming {
  const uint8_t* data;
  size_t n_bytes;
};

}  // namespace gatewise
