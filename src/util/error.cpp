// SPDX-License-Identifier: Apache-2.0
// See error.h.
#include "util/error.h"

#include <fmt/format.h>

#include <cctype>
#include <system_error>
#include <utility>

namespace marrow::util {

Error::Error(const std::string& sentence, ErrorKind kind, std::string hint, Place place)
    : std::runtime_error(sentence), kind_(kind), hint_(std::move(hint)), place_(place) {}

std::string describe(const Error& error) {
  if (error.hint().empty()) return fmt::format("error: {}", error.what());
  return fmt::format("error: {}\ntry: {}", error.what(), error.hint());
}

Error system_error(std::string_view what, int error_number, Place place) {
  // generic_category() is thread-safe where strerror() is not. Its text starts upper case; our sentences do not.
  std::string reason = std::generic_category().message(error_number);
  if (reason.size() > 1 && std::islower(static_cast<unsigned char>(reason[1])) != 0) {
    reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  }
  return Error(fmt::format("{}: {}", what, reason), ErrorKind::kFailed, {}, place);
}

}  // namespace marrow::util
