// SPDX-License-Identifier: Apache-2.0
// Bulk traffic: a lane that keeps half a window to a whole one of messages under way, for as long as it is asked to.
// Before a place is used again its message is compared at the far side, so every byte is verified. Host and GPU.
#pragma once

#include "experiments/common/load/ways.h"

namespace marrow::experiments {

/// \tparam Way  GdaWay or ProxyWay. The cargo has `window` places; `window` is even.
template <class Way>
class Bulk {
 public:
  MARROW_HD Bulk(Way& way, const Cargo& cargo, std::uint32_t window)
      : way_(way), cargo_(cargo), half_(window / 2), number_(0) {}

  /// Sends half a window, once the half before the last one is complete and compared. False when something failed.
  [[nodiscard]] MARROW_HD bool step() {
    if (under_way_ == 2 && !settle_oldest()) return false;
    const Run run{static_cast<std::uint32_t>(number_ / half_ & 1) * half_, half_};
    for (std::uint32_t k = 0; k < half_; ++k) cargo_.write(run.first + k, number_ + k);
    older_ = newer_;
    newer_ = way_.post(run);
    if (newer_.status != gda::Status::kOk) return fail({newer_.status, false, number_});
    number_ += half_;
    ++under_way_;
    return true;
  }
  /// Until nothing is under way.
  [[nodiscard]] MARROW_HD bool drain() {
    while (failure_.ok() && under_way_ > 0) {
      if (!settle_oldest()) return false;
    }
    return failure_.ok();
  }
  /// Messages that are complete and were compared.
  [[nodiscard]] MARROW_HD std::uint64_t carried() const { return number_ - std::uint64_t{under_way_} * half_; }
  [[nodiscard]] MARROW_HD const SendFailure& failure() const { return failure_; }

 private:
  MARROW_HD bool fail(const SendFailure& failure) {
    failure_ = failure;
    return false;
  }
  [[nodiscard]] MARROW_HD bool settle_oldest() {
    const auto first = carried();
    const auto status = way_.wait(under_way_ == 2 ? older_ : newer_);
    if (status != gda::Status::kOk) return fail({status, false, first});
    const auto place = static_cast<std::uint32_t>(first / half_ & 1) * half_;
    std::uint64_t bits = 0;  // all at once: on a GPU the loads of a half overlap
    for (std::uint32_t k = 0; k < half_; ++k) bits |= cargo_.difference(place + k, first + k);
    for (std::uint32_t k = 0; bits != 0 && k < half_; ++k) {
      if (!await_message(cargo_, place + k, first + k)) return fail({gda::Status::kOk, true, first + k});
    }
    --under_way_;
    return true;
  }

  Way& way_;
  const Cargo& cargo_;
  std::uint32_t half_;
  std::uint32_t under_way_ = 0;  // halves
  std::uint64_t number_;         // of the next message
  typename Way::Ticket older_;
  typename Way::Ticket newer_;
  SendFailure failure_;
};

}  // namespace marrow::experiments
