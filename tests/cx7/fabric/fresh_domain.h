// SPDX-License-Identifier: Apache-2.0
// A domain of its own for each test, so that tests run side by side.
#pragma once

#include <unistd.h>

#include <string>

namespace marrow::cx7 {

inline std::string fresh_domain() {
  static int count = 0;
  return "test" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

}  // namespace marrow::cx7
