// SPDX-License-Identifier: Apache-2.0
// What the parsers of all commands share: CLI11 underneath, our own sentences above it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace marrow::cli {

/// \throws util::Error of kind kUsage.
[[noreturn]] void refuse_usage(const std::string& sentence, const std::string& hint);

/// Lets `fill` declare the options, parses, and turns every complaint into one of ours.
void parse_with(const std::string& command, std::vector<std::string> words, const std::function<void(CLI::App&)>& fill);

/// Refuses "nan", which compares with no bound. For CLI11's check().
[[nodiscard]] std::string not_nan(const std::string& text);

}  // namespace marrow::cli
