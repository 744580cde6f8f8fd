// Constants of a column as a search tree, so that a value is searched once, and tests ask for its place in a byte.
#pragma once

#include <vector>

#include "kernels.hpp"

namespace gatewise {

// Adds to `trees` the tree of a column's tests, tests[0] .. tests[n_tests], and turns those that it answers into
// questions about ranks. A ranking without levels means that all tests stay as they are: they are too few to gain,
// too many to be looked up, or ask for order and equality both. Defined for all types of values.
template <typename T>
Ranking rank_tests(Test<T>* tests, size_t n_tests, const Kernels& kernels, std::vector<uint8_t>& trees);

}  // namespace gatewise
