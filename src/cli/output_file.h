// SPDX-License-Identifier: Apache-2.0
// Files that the tool writes: whole or not at all. A new file is written beside the old one and takes its name when it
// is complete on disk, so that a full disk or a crash leaves the old one as it was.
#pragma once

#include <string>
#include <string_view>

namespace marrow::cli {

inline constexpr const char* kStdout = "-";

/// Before a long measurement: \throws util::Error of kind kUsage when the file could not be written at its end.
/// Leaves nothing behind. An empty name and "-" are fine.
void refuse_unwritable(const std::string& file);

/// "-" is stdout. What is no regular file (a pipe, a device) is written as it is. Says on stderr which file it wrote.
/// \throws util::Error.
void write_output(const std::string& file, std::string_view text);

/// The same in silence, for files that are the tool's own.
void write_silently(const std::string& file, std::string_view text);

}  // namespace marrow::cli
