// Constants of a column as a search tree, so that a value is searched once, and tests ask for its place in a byte.
#pragma once

#include <vector>

#include "encode/kernels.hpp"

namespace gatewise {

// Ranks the tests of a column, and adds their tree to `trees`. A ranking of no tests means that they are too few to
// gain, too many to be looked up, or that those of another question come first. Defined for all types of values.
template <typename Value>
Ranking rank_tests(Test<Value>* tests, size_t n_tests, const EncodeKernels& kernels, std::vector<uint8_t>& trees);

}  // namespace gatewise
