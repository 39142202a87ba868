// SPDX-License-Identifier: Apache-2.0
// One message of a lane at a time, by a queue that many share, and by a ring of mini-proxy: what GdaPoster
// (common/poster.h) is for a queue of one's own. Host and GPU.
#pragma once

#include <string>

#include "experiments/common/poster.h"
#include "marrow/gda/order.h"
#include "marrow/gda/shared_queue.h"
#include "marrow/proxy/producer.h"

namespace marrow::experiments {

/// \tparam P  a policy of shared queues.
template <gda::PolicyType P>
class SharedPoster {
 public:
  MARROW_HD SharedPoster(const gda::Qp& qp, const Route& route)
      : sq_(qp), put_{.to = route.to, .from = route.from, .bytes = route.bytes} {}

  MARROW_HD void prepare(std::uint64_t) {}
  MARROW_HD void post() noexcept {
    const gda::Solo team;
    const auto slots = sq_.reserve(team, 1);
    sq_.write(slots[0], put_);
    ticket_ = sq_.submit(team, slots);
  }
  [[nodiscard]] MARROW_HD bool wait() noexcept {
    result_ = sq_.wait(gda::Solo{}, ticket_);
    return result_.ok();
  }
  [[nodiscard]] MARROW_HD gda::Status status() const noexcept { return result_.status; }
  [[nodiscard]] std::string failure() const {
    return gda::format_result(result_) + "\n" + gda::format_dump(sq_.dump());
  }

 private:
  gda::SendQueue<P> sq_;
  gda::Put put_;
  gda::Ticket ticket_;
  gda::Result result_;
};

template <proxy::HandOffType H, class Probe = proxy::NoProbe>
class ProxyPoster {
 public:
  MARROW_HD ProxyPoster(const proxy::Ring& ring, const proxy::Put& put) : ring_(ring), put_(put) {}

  /// The payload is in its place: it is ordered here, before any clock is read, where the hand-over does not do it.
  MARROW_HD void prepare(std::uint64_t) {
    if constexpr (!proxy::orders_payload<H>()) gda::emit_fence<gda::FenceKind::kSystem>();
  }
  MARROW_HD void post() noexcept { ticket_ = ring_.put(put_); }
  [[nodiscard]] MARROW_HD bool wait() noexcept {
    status_ = ring_.wait(ticket_);
    return status_ == gda::Status::kOk;
  }
  [[nodiscard]] MARROW_HD gda::Status status() const noexcept { return status_; }
  [[nodiscard]] std::string failure() const { return std::string("the ring said: ") + gda::status_name(status_); }
  [[nodiscard]] MARROW_HD Probe& probe() noexcept { return ring_.probe(); }

 private:
  proxy::Producer<H, Probe> ring_;
  proxy::Put put_;
  proxy::Ticket ticket_;
  gda::Status status_ = gda::Status::kOk;
};

}  // namespace marrow::experiments
