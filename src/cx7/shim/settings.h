// SPDX-License-Identifier: Apache-2.0
// What the MARROW_SIM_ variables ask for, and where the device tree lies. Read once, at the first use; a variable that
// we do not know is refused, because a misspelt one would silently not act.
#pragma once

#include <cstdint>
#include <string>

#include "cx7/fabric/link_options.h"
#include "cx7/hca/engine.h"

namespace marrow::cx7 {

/// What the engine thread does while it waits for work (idle_policy.h).
enum class SpinRule : std::uint8_t { kAuto, kNever, kAlways };

/// Who serves queue pairs: GPU threads those in GPU memory, nobody but the CPU engine, or GPU threads all they reach.
enum class EngineRule : std::uint8_t { kAuto, kCpu, kGpu };

struct Settings {
  std::string domain;  // processes of one domain see each other
  Checking checking = Checking::kStrict;
  SpinRule spin = SpinRule::kAuto;
  EngineRule engine = EngineRule::kAuto;
  int gpu = -1;                // of the GPU engine; -1: where the first queue lies
  std::uint32_t shift_ms = 2;  // for which one kernel of it works
  bool stats_at_exit = false;
  std::string board;  // of `marrow sim` (board.h); empty: none
  LinkOptions links;
  std::string tree;  // root of the device tree of the link layer in force, no slash at the end
};

/// The directory that this shared object lies in, symbolic links resolved. Throws util::Error.
[[nodiscard]] std::string library_directory();

/// Throws util::Error, each time anew, while the environment makes no sense.
[[nodiscard]] const Settings& settings();

}  // namespace marrow::cx7
