// Arrays that come from Python and go there: what all bindings share.
//
// Native code takes what it is given for indices and reads it while Python runs on, so a binding checks every array,
// and copies first what others could change between the check and the end of the call.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

namespace gatewise::binding {

namespace nb = nanobind;

template <typename Value>
using Array = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename Value>
using Matrix = nb::ndarray<Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename Value>
using StridedMatrix = nb::ndarray<Value, nb::ndim<2>, nb::device::cpu>;
// Of any dtype, which the binding looks up.
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

inline void require(bool ok, const char* message) {
  if (!ok) throw nb::value_error(message);
}

template <typename Value, typename... Properties>
std::vector<std::remove_const_t<Value>> copy(const nb::ndarray<Value, Properties...>& array) {
  return {array.data(), array.data() + array.size()};
}

template <typename Value>
nb::ndarray<nb::numpy, Value, nb::ndim<1>> to_numpy(std::vector<Value>&& values) {
  auto* owned = new std::vector<Value>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
  return {owned->data(), {owned->size()}, owner};
}

}  // namespace gatewise::binding
