// SPDX-License-Identifier: Apache-2.0
// A path argument of a hook: as the application wrote it, or where it lies in the device tree. For every other path
// the cost is the look at its first five characters.
#pragma once

#include <climits>
#include <cstring>
#include <optional>

#include "cx7/shim/activation.h"

namespace marrow::cx7 {

class Redirected {
 public:
  explicit Redirected(const char* path) : path_(path) {
    if (may_be_ours(path) && is_active()) redirect();
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

  [[nodiscard]] const char* path() const { return path_; }
  /// The device whose uverbs node this path names.
  [[nodiscard]] std::optional<int> node() const { return node_; }

 private:
  static bool may_be_ours(const char* path) {
    return path != nullptr && (std::strncmp(path, "/sys/", 5) == 0 || std::strncmp(path, "/dev/", 5) == 0 ||
                               std::strncmp(path, "//", 2) == 0 || std::strncmp(path, "/./", 3) == 0);
  }
  void redirect();

  const char* path_;
  std::optional<int> node_;
  char room_[PATH_MAX];  // NOLINT(modernize-avoid-c-arrays): left unset on purpose, hooks are hot
};

}  // namespace marrow::cx7
