// SPDX-License-Identifier: Apache-2.0
// How a command ends when it does not succeed: with an errno, from however deep. File::ioctl() turns it into -errno.
#pragma once

#include <cerrno>

namespace marrow::cx7::abi {

struct Errno {
  int value = 0;
};

[[noreturn]] inline void refuse(int error_number) {
  throw Errno{error_number};
}

inline void require(bool condition, int error_number) {
  if (!condition) refuse(error_number);
}

}  // namespace marrow::cx7::abi
