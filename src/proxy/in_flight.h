// SPDX-License-Identifier: Apache-2.0
// What one ring has posted and not yet been told to be complete, in its order: for each operation the connection and
// the position there that it waits for. Nothing is written here when a CQE comes; the front is compared with it.
#pragma once

#include <cstdint>
#include <vector>

#include "marrow/gda/status.h"

namespace marrow::proxy {

/// "Connection `connection` has completed `position` work requests."
struct Wait {
  std::uint64_t position = 0;
  std::uint16_t connection = 0;
  std::uint8_t wrs = 0;        // of its own, the last ones before `position`; a flush has none
  bool ends_operation = true;  // a flush waits for several connections
};

/// One thread.
class InFlight {
 public:
  /// \param capacity  a power of two.
  InFlight(std::uint64_t first, std::uint32_t capacity) : waits_(capacity), mask_(capacity - 1), completed_(first) {}

  [[nodiscard]] bool empty() const { return front_ == back_; }
  [[nodiscard]] std::uint64_t room() const { return mask_ + 1 - (back_ - front_); }
  [[nodiscard]] const Wait& front() const { return waits_[front_ & mask_]; }
  void push(const Wait& wait) { waits_[back_++ & mask_] = wait; }
  void pop() {
    completed_ += front().ends_operation;
    ++front_;
  }

  /// Operations of the ring that are complete, in order.
  [[nodiscard]] std::uint64_t completed() const { return completed_; }

  /// Nothing more is posted for the ring: a request of it was refused, or failed.
  void close() { closed_ = true; }
  [[nodiscard]] bool is_closed() const { return closed_; }
  /// The one behind completed() failed: the end of the ring.
  void fail(gda::Status failure) {
    failure_ = failure;
    closed_ = true;
    front_ = back_;
  }
  [[nodiscard]] gda::Status failure() const { return failure_; }

 private:
  std::vector<Wait> waits_;
  std::uint64_t mask_;
  std::uint64_t front_ = 0;
  std::uint64_t back_ = 0;
  std::uint64_t completed_;
  gda::Status failure_ = gda::Status::kOk;
  bool closed_ = false;
};

}  // namespace marrow::proxy
