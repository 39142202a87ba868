// SPDX-License-Identifier: Apache-2.0
// Whether the hooks act at all. Decided by MARROW_SIM=1 at the first hooked call, which may come before any
// constructor, or by marrow_cx7_enable().
#pragma once

namespace marrow::util {
class Error;
}

namespace marrow::cx7 {

struct Settings;

/// One load and one compare once decided.
[[nodiscard]] bool is_active();
/// Throws what settings() throws; then nothing has changed.
void activate();
void deactivate();

/// settings(), for code that has nowhere to throw to: when they make no sense the process ends with our sentence.
[[nodiscard]] const Settings& settings_or_exit();

}  // namespace marrow::cx7
