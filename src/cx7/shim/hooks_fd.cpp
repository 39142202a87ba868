// SPDX-License-Identifier: Apache-2.0
// Hooks that make and end descriptors: a device lives until the last descriptor of it is closed. The number is
// forgotten before it is closed, because another thread may get it the moment it is free; the device goes after.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>

#include "cx7/shim/device_files.h"
#include "cx7/shim/libc.h"
#include "cx7/shim/next.h"

namespace marrow::cx7 {
namespace {

/// What a call that made the descriptor `fd` returns.
int looked_at(int fd) {
  if (fd >= 0 && DeviceFiles::instance().any()) DeviceFiles::instance().look(fd);
  return fd;
}

constexpr unsigned kCloseOnExecOnly = 1u << 2;  // CLOSE_RANGE_CLOEXEC [abi: linux/close_range.h]

template <class Call>
int fcntl_with(Call call, int command) {
  const int result = call();
  const bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return duplicates ? looked_at(result) : result;
}

}  // namespace

MARROW_HOOK(int, close, int fd) {
  if (!DeviceFiles::instance().is_device(fd)) return libc::close(fd);
  const auto last = DeviceFiles::instance().forget(fd);
  return libc::close(fd);
}

MARROW_HOOK(int, close_range, unsigned first, unsigned last, int flags) {
  static constinit Next<int (*)(unsigned, unsigned, int)> next{"close_range"};
  if ((static_cast<unsigned>(flags) & kCloseOnExecOnly) != 0) return next(first, last, flags);
  const auto devices = DeviceFiles::instance().forget_range(first, last);
  return next(first, last, flags);
}

MARROW_HOOK(void, closefrom, int first) {
  static constinit Next<void (*)(int)> next{"closefrom"};
  const auto devices = DeviceFiles::instance().forget_range(first < 0 ? 0 : static_cast<unsigned>(first), UINT_MAX);
  next(first);
}

MARROW_HOOK(int, dup, int fd) {
  static constinit Next<int (*)(int)> next{"dup"};
  return looked_at(next(fd));
}

MARROW_HOOK(int, dup2, int from, int to) {
  static constinit Next<int (*)(int, int)> next{"dup2"};
  return looked_at(next(from, to));
}

MARROW_HOOK(int, dup3, int from, int to, int flags) {
  static constinit Next<int (*)(int, int, int)> next{"dup3"};
  return looked_at(next(from, to, flags));
}

// Every command's argument is an int, a pointer or absent: one register, handed on as it came.
#define MARROW_FCNTL(name)                                                   \
  MARROW_HOOK(int, name, int fd, int command, ...) {                         \
    static constinit Next<int (*)(int, int, ...)> next{#name};               \
    va_list arguments;                                                       \
    va_start(arguments, command);                                            \
    const auto argument = va_arg(arguments, std::uintptr_t);                 \
    va_end(arguments);                                                       \
    return fcntl_with([&] { return next(fd, command, argument); }, command); \
  }
MARROW_FCNTL(fcntl)
MARROW_FCNTL(fcntl64)

}  // namespace marrow::cx7
