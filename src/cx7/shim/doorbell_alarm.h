// SPDX-License-Identifier: Apache-2.0
// Lets an engine that has been idle for some time sleep without looking: the application's doorbell pages are
// write-protected by userfaultfd, so that its next store waits for the engine instead of the engine for the store. Only
// for stores of this process's threads; a GPU's go past page tables, so a process that has loaded CUDA gets no alarm.
// Facts: userfaultfd(2), write-protect mode on shared memory since Linux 5.19; works for normal users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/fd.h"

namespace marrow::cx7 {

/// Called by the engine thread alone, except abandon().
class DoorbellAlarm {
 public:
  /// Protects every doorbell page that is mapped now. False when that is not possible here, or when nothing is mapped;
  /// then all is as before. A store may have landed just before: look once more after true.
  /// Cost: a walk through /proc/self/maps.
  [[nodiscard]] bool arm();
  /// Takes the protection off and lets waiting stores go on.
  void disarm();
  [[nodiscard]] bool armed() const { return armed_; }
  /// True when a store is waiting. Never blocks.
  [[nodiscard]] bool rings();
  /// Readable when a store is waiting; -1 as long as arm() was never successful.
  [[nodiscard]] int fd() const { return fd_.get(); }

  /// In a forked child, whose pages were never protected.
  void abandon();

 private:
  [[nodiscard]] bool open();
  [[nodiscard]] bool collect();
  [[nodiscard]] bool protect(std::uint64_t page) const;

  util::UniqueFd fd_;
  bool impossible_ = false;
  bool armed_ = false;
  std::vector<std::uint64_t> pages_;  // addresses of the application's mappings
};

}  // namespace marrow::cx7
