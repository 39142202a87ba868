// SPDX-License-Identifier: Apache-2.0
// How often the calling thread has called operator new, in a program that links allocations.cpp.
#pragma once

#include <cstdint>

namespace marrow::proxy::testing {

[[nodiscard]] std::uint64_t allocations_of_this_thread();

}  // namespace marrow::proxy::testing
