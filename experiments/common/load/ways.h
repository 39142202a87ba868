// SPDX-License-Identifier: Apache-2.0
// The two transports as a sending lane uses them: mini-gda's queue, of its own or shared, and a ring of mini-proxy.
// post() hands a run of places over and returns what to wait for.
#pragma once

#include "experiments/common/load/cargo.h"
#include "marrow/gda/send_queue.h"
#include "marrow/gda/shared_queue.h"
#include "marrow/proxy/producer.h"

namespace marrow::experiments {

/// Places of one hand-over, of which the sources are filled.
struct Run {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// By its own queue: up to `kEach` WQEs a doorbell.
template <gda::PolicyType P, std::uint32_t kEach>
class GdaWay {
 public:
  using Ticket = gda::Ticket;

  MARROW_HD GdaWay(const gda::Qp& qp, const Cargo& cargo) : sq_(qp), cargo_(cargo) {}

  [[nodiscard]] MARROW_HD Ticket post(const Run& run) {
    const gda::Solo team;
    Ticket ticket;
    for (std::uint32_t done = 0; done < run.count && ticket.status == gda::Status::kOk; done += kEach) {
      const auto count = run.count - done < kEach ? run.count - done : kEach;
      const auto slots = sq_.reserve(team, count);
      for (std::uint32_t k = 0; k < count; ++k) {
        const auto at = std::uint64_t{run.first + done + k} * cargo_.bytes;
        sq_.write(slots[k], {.to = cargo_.to + at, .from = cargo_.from + at, .bytes = cargo_.bytes});
      }
      ticket = sq_.submit(team, slots);
    }
    return ticket;
  }
  [[nodiscard]] MARROW_HD gda::Status wait(const Ticket& ticket) { return sq_.wait(gda::Solo{}, ticket).status; }

 private:
  gda::SendQueue<P> sq_;
  const Cargo& cargo_;
};

/// By a ring, on a route. The sources are ordered before the run, once.
template <proxy::HandOffType H>
class ProxyWay {
 public:
  using Ticket = proxy::Ticket;

  MARROW_HD ProxyWay(const proxy::Ring& ring, const Cargo& cargo) : ring_(ring), cargo_(cargo) {}

  [[nodiscard]] MARROW_HD Ticket post(const Run& run) {
    if constexpr (!proxy::orders_payload<H>()) gda::emit_fence<gda::FenceKind::kSystem>();
    Ticket ticket;
    for (std::uint32_t k = 0; k < run.count && ticket.status == gda::Status::kOk; ++k) {
      const auto at = std::uint64_t{run.first + k} * cargo_.bytes;
      ticket = ring_.put({.from = cargo_.from_at + at, .to = cargo_.to_at + at, .bytes = cargo_.bytes});
    }
    return ticket;
  }
  [[nodiscard]] MARROW_HD gda::Status wait(const Ticket& ticket) { return ring_.wait(ticket); }

 private:
  proxy::Producer<H> ring_;
  const Cargo& cargo_;
};

}  // namespace marrow::experiments
