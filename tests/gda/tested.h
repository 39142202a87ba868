// SPDX-License-Identifier: Apache-2.0
// The tests of an exclusive queue run twice: as gda_test with all in registers, as gda_lean_test with all in memory.
#pragma once

#include <type_traits>

#include "marrow/gda/policy.h"

namespace marrow::gda {

#if defined(MARROW_TEST_LEAN)
template <class P>
using Tested = std::conditional_t<P::sharing == Sharing::kExclusive, Lean<P>, P>;
#else
template <class P>
using Tested = P;
#endif

}  // namespace marrow::gda
