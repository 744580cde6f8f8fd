// The Python side of thread pools.
#include "support/pool.hpp"

#include "bind/arrays.hpp"
#include "bind/module.hpp"

namespace nb = nanobind;
namespace gw = gatewise;
using namespace gatewise::binding;

void bind_pool(nb::module_& m) {
  const auto make = [](gw::Pool* pool, unsigned threads) {
    require(threads >= 1, "threads must be at least 1");
    new (pool) gw::Pool(threads);
  };
  nb::class_<gw::Pool>(m, "Pool").def("__init__", make, nb::arg("threads")).def_prop_ro("threads", &gw::Pool::threads);
}
