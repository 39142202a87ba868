// SPDX-License-Identifier: Apache-2.0
// What the parsers of all commands share: CLI11 underneath, our own sentences above it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace marrow::cli {

/// \throws util::Error of kind kUsage.
[[noreturn]] void refuse_usage(const std::string& sentence, const std::string& hint);

/// Lets `fill` declare the options, parses, and turns every complaint into one of ours.
void parse_with(const std::string& command, const std::vector<std::string>& words,
                const std::function<void(CLI::App&)>& fill);

/// What an option's value must be, for CLI11's check(): the sentence that refuses a word, or an empty one.
using Check = std::function<std::string(const std::string&)>;
[[nodiscard]] Check whole(std::uint64_t least, std::uint64_t most);
[[nodiscard]] Check real(double least, double most);
[[nodiscard]] Check one_of(std::vector<std::string> values);

}  // namespace marrow::cli
