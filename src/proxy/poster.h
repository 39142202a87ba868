// SPDX-License-Identifier: Apache-2.0
// The posting half of a worker: requests become work requests, are chained by connection, and are posted together; CQEs
// come back as positions. It knows no ring and no hand-off, so there is one of it for all of them.
// Facts: an RC queue pair completes in order, a CQE says so for all before it, and after an error everything behind is
// flushed [abi: ibv_post_send(3), ibv_poll_cq(3)].
#pragma once

#include <cstdint>
#include <vector>

#include "marrow/proxy/descriptor.h"
#include "proxy/in_flight.h"
#include "proxy/report.h"
#include "proxy/routes.h"

namespace marrow::proxy {

enum class Placed : std::uint8_t {
  kYes,
  kNoRoom,   // later; nothing has changed
  kRefused,  // never: the ring is closed and will say why once what came before is complete
};

/// A counter of one thread that others may look at.
inline void bump(std::uint64_t& counter, std::uint64_t by = 1) {
  __atomic_store_n(&counter, counter + by, __ATOMIC_RELAXED);
}

/// One thread. Allocates nothing after construction.
class Poster {
 public:
  Poster(const RouteTable& routes, std::uint32_t worker, const WorkersOptions& options, WorkerCounters& counters);

  /// Into its connection's chain, which is posted once it holds a batch.
  Placed place(const Request& request, InFlight& ring);
  /// Posts what has been placed and not been posted.
  void post_open();
  [[nodiscard]] bool has_open() const { return !open_.empty(); }

  /// Takes CQEs until there are none. Returns how many.
  std::uint32_t poll();
  /// Whether a CQE is still to come.
  [[nodiscard]] bool is_waiting() const { return in_air_ != 0; }

  /// Takes what is complete off the ring's front, up to the first that failed. Whether anything changed.
  bool advance(InFlight& ring) const;

 private:
  struct Connection {
    ibv_qp* qp = nullptr;
    std::uint64_t placed = 0;        // work requests, the open chain's included
    std::uint64_t completed = 0;     // in order
    std::uint64_t fails_at = ~0ull;  // the first that will never complete
    gda::Status failure = gda::Status::kOk;
    std::uint16_t number = 0;
    bool open = false;           // listed in open_
    std::uint32_t requests = 0;  // in the chain
    std::uint32_t wrs = 0;       // in the chain
    std::vector<ibv_send_wr> chain;
    std::vector<ibv_sge> pieces;
  };

  Placed place_put(const Request& request, InFlight& ring);
  Placed place_flush(const Request& request, InFlight& ring);
  Placed flush_all(InFlight& ring);
  Placed refuse(InFlight& ring, const Connection& because);
  void append_write(Connection& c, const Route& route, const Request& request);
  void append_signal(Connection& c, const Route& route, const Request& request);
  ibv_send_wr& append(Connection& c);
  void post(Connection& c);
  void on_post_error(Connection& c, const ibv_send_wr* refused);
  void on_cqe(const ibv_wc& cqe);
  void fail(Connection& c, std::uint64_t position, gda::Status failure);
  void fail_all();

  std::vector<Connection> connections_;  // and one more, which refuses: requests that make no sense
  std::vector<Route> routes_;
  std::vector<std::uint16_t> open_;
  std::vector<ibv_wc> cqes_;
  WorkerCounters& counters_;
  ibv_cq* cq_;
  gda::Local sink_;
  std::uint64_t in_air_ = 0;  // work requests that are placed and will complete
  std::uint32_t batch_;
  std::uint32_t depth_;
  bool signal_each_;
};

}  // namespace marrow::proxy
