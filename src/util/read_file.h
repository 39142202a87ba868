// SPDX-License-Identifier: Apache-2.0
// A file that a person named, as text. A device or a pipe has no end to wait for, so only regular files are read.
#pragma once

#include <cstddef>
#include <string>

namespace marrow::util {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

/// \throws Error of kind kUsage with `hint`: it cannot be read, is a folder, is not a regular file, or holds more than
///         `limit` bytes.
[[nodiscard]] std::string read_file(const std::string& file, std::size_t limit, const std::string& hint);

}  // namespace marrow::util
