// What a gate means: the native twin of gatewise.gates. Static, because kernel files compile their own copy.
#pragma once

namespace gatewise {

static constexpr bool truth(unsigned gate, unsigned a, unsigned b) { return gate >> (3 - 2 * a - b) & 1; }

}  // namespace gatewise
