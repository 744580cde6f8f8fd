// The shortest ways to compute a function of four variables: a table searched once, from the gates' meaning.
#pragma once

#include <cstdint>
#include <span>

namespace gatewise {

constexpr unsigned kMaxLeaves = 4;
constexpr unsigned kMaxSteps = 3;

// A function of the leaves: bit i is its value where leaf v has the value of bit v of i.
using Truth = uint16_t;
constexpr Truth kLeafTruth[kMaxLeaves] = {0xAAAA, 0xCCCC, 0xF0F0, 0xFF00};

// Value 0 is the constant false, values 1 to 4 are the leaves, and step k computes value 5 + k.
constexpr unsigned kFirstLeaf = 1;
constexpr unsigned kFirstStep = kFirstLeaf + kMaxLeaves;
constexpr unsigned kMaxValues = kFirstStep + kMaxSteps;

struct FormulaStep {
  uint8_t gate, a, b;  // gate(value a, value b)
};

struct Formula {
  uint8_t n_steps;
  uint8_t result;  // a value
  FormulaStep steps[kMaxSteps];
};

// All formulas of least length that compute `truth`, which must be false where all leaves are; none if that takes more
// than kMaxSteps.
std::span<const Formula> shortest_formulas(Truth truth);

}  // namespace gatewise
