// SPDX-License-Identifier: Apache-2.0
// A thread that plays the fetch unit of a quick NIC for a queue in host memory: it watches the doorbell register, and
// the moment a value comes it looks at the WQEs that were announced. It changes nothing and executes nothing; the NIC
// does that a little later, when late bytes have mostly come.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "marrow/gda/handles.h"

namespace marrow::experiments {

/// What it saw. A doorbell that the NIC takes first, or that the next one overwrites, is not looked at by itself.
struct Sightings {
  std::uint64_t looked_at = 0;  // WQEs
  std::uint64_t stale = 0;      // of these: an older index stood there
};

class Lookout {
 public:
  /// \param queue  with the host's addresses, one WQEBB a WQE. Takes a core until it is destroyed.
  explicit Lookout(const gda::Qp& queue);
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;
  ~Lookout();

  /// Ends the watch.
  [[nodiscard]] Sightings stop();

 private:
  void watch();
  void look(std::uint16_t end);

  gda::Qp queue_;
  Sightings seen_;
  bool knows_end_ = false;
  std::uint16_t end_ = 0;  // of the last doorbell
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace marrow::experiments
