// SPDX-License-Identifier: Apache-2.0
// Which paths lead into the device tree. Only prefixes are rewritten; below them lie real files and directories, so
// readdir(), openat() on a directory, fgets() and symbolic links work without our help. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace marrow::cx7 {

/// Slashes in a row and "/./" made one slash, no slash at the end. Text behind ".." is left as it is.
/// Nothing when `path` does not fit.
[[nodiscard]] std::optional<std::string_view> tidy_path(std::string_view path, std::span<char> room);

/// True when a tidy absolute path is, or lies below, one of the names that the tree takes over.
[[nodiscard]] bool is_in_tree(std::string_view tidy);

/// 0 or 1 for the tidy path of a uverbs node.
[[nodiscard]] std::optional<int> device_of_node(std::string_view tidy);

/// The part of `path` behind `tree` when it lies in the tree: what the application may see of it.
[[nodiscard]] std::string_view without_tree(std::string_view tree, std::string_view path);

}  // namespace marrow::cx7
