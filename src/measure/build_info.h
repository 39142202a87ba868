// SPDX-License-Identifier: Apache-2.0
// What this binary was built from: part of every result, because a number without its commit cannot be repeated.
#pragma once

#include <string_view>

namespace marrow::measure {

struct BuildInfo {
  std::string_view version;
  std::string_view compiler;
  std::string_view build_type;
  std::string_view commit;  // 40 hex digits, or "unknown" outside a git checkout
  bool dirty = false;       // the checkout held changes that the commit does not have
};
[[nodiscard]] BuildInfo build_info();

}  // namespace marrow::measure
