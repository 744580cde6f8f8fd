// The Python side of encoding.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "bind/arrays.hpp"
#include "bind/module.hpp"
#include "encode/encoder.hpp"

namespace nb = nanobind;
namespace gw = gatewise;
using namespace gatewise::binding;

namespace {

void make_encoder(gw::Encoder* encoder, Array<uint32_t> test_ptr, Array<uint8_t> questions, Array<double> values,
                  const std::string& target) {
  std::vector<uint32_t> ptr = copy(test_ptr);
  const std::vector<uint8_t> asked = copy(questions);
  const std::vector<double> constants = copy(values);
  require(!ptr.empty() && ptr[0] == 0 && ptr.back() == asked.size() && constants.size() == asked.size(),
          "test_ptr must rise from 0 to the number of questions and values");
  require(std::is_sorted(ptr.begin(), ptr.end()), "test_ptr must not fall");
  for (const uint8_t question : asked)
    require(question <= static_cast<uint8_t>(gw::Question::kMissing), "questions must be below 3");
  new (encoder) gw::Encoder(std::move(ptr), asked.data(), constants.data(), require_target(target).encode);
}

gw::ValueType find_type(const AnyMatrix& table) {
  const nb::dlpack::dtype type = table.dtype();
  if (type == nb::dtype<float>()) return gw::ValueType::kFloat32;
  if (type == nb::dtype<double>()) return gw::ValueType::kFloat64;
  if (type == nb::dtype<uint8_t>()) return gw::ValueType::kUint8;
  if (type == nb::dtype<int32_t>()) return gw::ValueType::kInt32;
  require(type == nb::dtype<int64_t>(), "table must be float32, float64, uint8, int32 or int64");
  return gw::ValueType::kInt64;
}

void encode(const gw::Encoder& encoder, AnyMatrix table, size_t first_column, Matrix<uint64_t> words, gw::Pool& pool) {
  const size_t n_rows = table.shape(0), n_columns = table.shape(1), n_words = (n_rows + 63) / 64;
  require(first_column <= encoder.n_columns() && n_columns <= encoder.n_columns() - first_column,
          "table must have columns of the encoder only");
  require(words.shape(0) == encoder.n_tests() && words.shape(1) == n_words,
          "words must be n_tests x ceil(n_rows / 64)");
  const auto size = static_cast<ptrdiff_t>(table.itemsize());
  const gw::Table view{find_type(table),
                       static_cast<const uint8_t*>(table.data()),
                       n_rows,
                       first_column,
                       n_columns,
                       size * table.stride(0),
                       size * table.stride(1)};
  uint64_t* to = words.data();
  nb::gil_scoped_release unlocked;
  encoder.encode(view, to, n_words, pool);
}

}  // namespace

void bind_encode(nb::module_& m) {
  nb::class_<gw::Encoder>(m, "Encoder")
      .def("__init__", &make_encoder, nb::arg("test_ptr"), nb::arg("questions"), nb::arg("values"), nb::arg("target"))
      .def("encode", &encode);
}
