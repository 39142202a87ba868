// SPDX-License-Identifier: Apache-2.0
// Hooks that ask about a path without opening it. What they hand out never shows where the device tree really lies:
// peers climb the PCI path from /sys/class/infiniband/NAME/device.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cx7/shim/libc.h"
#include "cx7/shim/next.h"
#include "cx7/shim/path_map.h"
#include "cx7/shim/redirected.h"
#include "cx7/shim/settings.h"

namespace marrow::cx7 {
namespace {

/// A uverbs node may be read and written by everybody, as on a real machine.
int answer_for_node(int mode) {
  if ((mode & X_OK) == 0) return 0;
  errno = EACCES;
  return -1;
}

std::string_view shown_path(std::string_view path) {
  return is_active() ? without_tree(settings_or_exit().tree, path) : path;
}

/// Takes the tree's root off the front of the `length` bytes in `text`; returns the new length.
std::size_t strip(char* text, std::size_t length) {
  const std::string_view shown = shown_path({text, length});
  if (shown.size() == length) return length;
  std::memmove(text, shown.data(), shown.size());
  return shown.size();
}

void strip_string(char* text) {
  text[strip(text, std::strlen(text))] = '\0';
}

/// The caller's room may be too small for the path with the tree in front, and large enough for the path without.
template <class Read>
ssize_t read_link(Read read, char* to, std::size_t room) {
  if (!is_active()) return read(to, room);
  std::array<char, PATH_MAX> whole;
  const ssize_t length = read(whole.data(), whole.size());
  if (length < 0) return length;
  const std::size_t shown = std::min(strip(whole.data(), static_cast<std::size_t>(length)), room);
  std::memcpy(to, whole.data(), shown);
  return static_cast<ssize_t>(shown);
}

}  // namespace

#define MARROW_ACCESS(name)                                           \
  MARROW_HOOK(int, name, const char* path, int mode) {                \
    static constinit Next<int (*)(const char*, int)> next{#name};     \
    const Redirected to(path);                                        \
    return to.node() ? answer_for_node(mode) : next(to.path(), mode); \
  }
MARROW_ACCESS(access)
MARROW_ACCESS(eaccess)
MARROW_ACCESS(euidaccess)

MARROW_HOOK(int, faccessat, int directory, const char* path, int mode, int flags) {
  static constinit Next<int (*)(int, const char*, int, int)> next{"faccessat"};
  const Redirected to(path);
  return to.node() ? answer_for_node(mode) : next(directory, to.path(), mode, flags);
}

MARROW_HOOK(ssize_t, readlink, const char* path, char* to, std::size_t room) {
  const Redirected from(path);
  if (room == 0) return libc::readlink(from.path(), to, room);
  return read_link([&](char* at, std::size_t bytes) { return libc::readlink(from.path(), at, bytes); }, to, room);
}

MARROW_HOOK(ssize_t, readlinkat, int directory, const char* path, char* to, std::size_t room) {
  static constinit Next<ssize_t (*)(int, const char*, char*, std::size_t)> next{"readlinkat"};
  const Redirected from(path);
  if (room == 0) return next(directory, from.path(), to, room);
  return read_link([&](char* at, std::size_t bytes) { return next(directory, from.path(), at, bytes); }, to, room);
}

// ls(1) asks for these of every file that it lists.
#define MARROW_GETXATTR(name)                                                                      \
  MARROW_HOOK(ssize_t, name, const char* path, const char* which, void* value, std::size_t room) { \
    static constinit Next<ssize_t (*)(const char*, const char*, void*, std::size_t)> next{#name};  \
    return next(Redirected(path).path(), which, value, room);                                      \
  }
MARROW_GETXATTR(getxattr)
MARROW_GETXATTR(lgetxattr)

MARROW_HOOK(char*, realpath, const char* path, char* resolved) {
  char* const result = libc::realpath(Redirected(path).path(), resolved);
  if (result != nullptr) strip_string(result);
  return result;
}

MARROW_HOOK(char*, __realpath_chk, const char* path, char* resolved, std::size_t room) {
  static constinit Next<char* (*)(const char*, char*, std::size_t)> next{"__realpath_chk"};
  char* const result = next(Redirected(path).path(), resolved, room);
  if (result != nullptr) strip_string(result);
  return result;
}

MARROW_HOOK(char*, canonicalize_file_name, const char* path) {
  return hook_realpath(path, nullptr);
}

}  // namespace marrow::cx7
