// SPDX-License-Identifier: Apache-2.0
// A clock for "which part of the time", cheap enough to look at between two looks at a ring. Its unit does not matter.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include "util/clock.h"
#endif

namespace marrow::proxy {

[[nodiscard]] inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(util::now().count());
#endif
}

}  // namespace marrow::proxy
