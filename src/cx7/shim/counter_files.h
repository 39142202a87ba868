// SPDX-License-Identifier: Apache-2.0
// Files of the device tree whose content is a number that changes: empty in the tree, and when opened a file in memory
// with the value of that moment. Found by what was opened, whatever path or directory led there.
#pragma once

#include <cstdio>

namespace marrow::cx7 {

/// Whether a path might lead to a counter, by its last part: a look at the path, no more.
[[nodiscard]] bool may_be_counter(const char* path);

/// What to hand out for `fd`, which was opened by a path that may_be_counter(): `fd` itself, or when it is a counter's
/// file in the tree one with the value, and `fd` is closed. -1 and errno: EACCES for writing.
[[nodiscard]] int with_value(int fd, int flags);
/// The same for what fopen() returned; null and errno.
[[nodiscard]] std::FILE* with_value(std::FILE* file, const char* mode);

}  // namespace marrow::cx7
