// The Python side of encoding: argument checks and array plumbing.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "bind.hpp"
#include "encode.hpp"

namespace nb = nanobind;
namespace gw = gatewise;

namespace {

template <typename T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyTable = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Words = nb::ndarray<uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require(bool ok, const char* message) {
  if (!ok) throw nb::value_error(message);
}

void make_encoder(gw::Encoder* encoder, Array<uint32_t> test_ptr, Array<uint8_t> questions, Array<double> values,
                  const std::string& level) {
  std::vector<uint32_t> ptr(test_ptr.data(), test_ptr.data() + test_ptr.size());
  require(!ptr.empty() && ptr[0] == 0 && ptr.back() == questions.size() && values.size() == questions.size(),
          "test_ptr must rise from 0 to the number of questions and values");
  for (size_t c = 1; c < ptr.size(); ++c) require(ptr[c - 1] <= ptr[c], "test_ptr must not fall");
  for (size_t t = 0; t < questions.size(); ++t)
    require(questions.data()[t] <= static_cast<uint8_t>(gw::Question::kMissing), "questions must be below 3");
  new (encoder) gw::Encoder(std::move(ptr), questions.data(), values.data(), find_kernels(level));
}

gw::ValueType find_type(const AnyTable& table) {
  const nb::dlpack::dtype type = table.dtype();
  if (type == nb::dtype<float>()) return gw::ValueType::kFloat32;
  if (type == nb::dtype<double>()) return gw::ValueType::kFloat64;
  if (type == nb::dtype<uint8_t>()) return gw::ValueType::kUint8;
  if (type == nb::dtype<int32_t>()) return gw::ValueType::kInt32;
  require(type == nb::dtype<int64_t>(), "table must be float32, float64, uint8, int32 or int64");
  return gw::ValueType::kInt64;
}

void encode(const gw::Encoder& encoder, AnyTable table, size_t first_column, Words words, gw::Pool& pool) {
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
  nb::class_<gw::Encoder>(m, "Encoder").def("__init__", &make_encoder).def("encode", &encode);
}
