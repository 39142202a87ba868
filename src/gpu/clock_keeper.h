// SPDX-License-Identifier: Apache-2.0
// A locked SM clock that is always given back. A lock outlives the process that set it, so a keeper, a process of its
// own, waits for the end of all who may have locked one, and gives back what they did not: after an interrupt, a crash,
// a kill.
#pragma once

#include <sys/types.h>

#include <string>

#include "gpu/nvml.h"
#include "util/fd.h"

namespace marrow::gpu {

/// Make it before the processes that lock: they inherit its ear. Nothing of CUDA or NVML may be in use yet.
class ClockKeeper {
 public:
  ClockKeeper();
  ~ClockKeeper();
  ClockKeeper(const ClockKeeper&) = delete;
  ClockKeeper& operator=(const ClockKeeper&) = delete;

  /// Told before a clock is locked and after it was given back; from any process that inherited it.
  void expect_lock(const std::string& bus_id) const;
  void forget_lock(const std::string& bus_id) const;

  /// When all other processes that inherited it have ended: waits until all clocks are given back. What could not be
  /// is on stderr then. \returns whether there was nothing of that kind. Call once, in the process that made it.
  [[nodiscard]] bool finish();

 private:
  void tell(char what, const std::string& bus_id) const;

  util::UniqueFd to_keeper_;
  pid_t keeper_ = -1;
};

/// One GPU's SM clock, locked from the first call of set() to the end of this object.
class ClockLock {
 public:
  ClockLock(const ClockKeeper& keeper, const Nvml& gpu) : keeper_(keeper), gpu_(gpu) {}
  ~ClockLock();
  ClockLock(const ClockLock&) = delete;
  ClockLock& operator=(const ClockLock&) = delete;

  /// \throws util::Error of kind kWaived where this user may not.
  void set(unsigned mhz);

 private:
  const ClockKeeper& keeper_;
  const Nvml& gpu_;
  bool locked_ = false;
};

}  // namespace marrow::gpu
