// SPDX-License-Identifier: Apache-2.0
// Two connected QPs on the two devices of one engine, their queues in plain memory and the engine stepped by hand: no
// thread, no clock, no rdma-core. What an application would do stands in Side's functions.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cx7/hca/engine.h"
#include "marrow/wire/cqe.h"
#include "marrow/wire/doorbell.h"

namespace marrow::cx7::test {

inline constexpr std::uint32_t kSqWqebbs = 64;
inline constexpr std::uint32_t kLogCq = 8;
inline constexpr std::uint32_t kRqEntries = 16;
inline constexpr std::uint32_t kRqStride = 32;  // two data segments
inline constexpr std::size_t kBufferBytes = 256 * 1024;

struct Aligned {
  explicit Aligned(std::size_t bytes, int fill = 0);
  ~Aligned();
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// One application's half: queues, buffer, keys, QP.
class Side {
 public:
  Side(Engine& engine, std::uint8_t device);

  void connect_to(const Side& peer, const QpAttributes& wanted);

  wire::Post next(wire::Completion completion = wire::Completion::kAlways) const;
  wire::LocalRef local(std::size_t offset = 0) const {
    return {reinterpret_cast<std::uint64_t>(buffer.data) + offset, mkey->key};
  }
  wire::RemoteRef remote(std::size_t offset = 0) const {
    return {reinterpret_cast<std::uint64_t>(buffer.data) + offset, mkey->key};
  }
  /// Copies a WQE into the SQ at the producer index and moves it; the NIC does not know yet.
  template <class Wqe>
  void put(const Wqe& wqe) {
    put_bytes(&wqe, sizeof wqe);
  }
  void put_bytes(const void* wqe, std::size_t bytes);
  void record() { dbrec->send = wire::dbrec_value(pi); }
  void ring() { ring_word(wire::doorbell_word(qp->config.qpn, pi)); }
  void ring_word(std::uint64_t word, std::size_t at = wire::kUarBlueFlame);
  void announce() {
    record();
    ring();
  }
  void post_recv(std::size_t offset, std::uint32_t bytes);
  /// The next CQE of this lap, or null.
  const wire::Cqe* poll();
  const wire::Cqe* poll_recv();

  Engine& engine;
  Device& device;
  Aligned sq{kSqWqebbs * wire::kWqebbBytes};
  Aligned rq{kRqEntries * kRqStride};
  Aligned send_cq{wire::kCqeBytes << kLogCq, 0xff};
  Aligned recv_cq{wire::kCqeBytes << kLogCq, 0xff};
  Aligned records{4096};
  Aligned page{wire::kUarBytes};
  Aligned buffer{kBufferBytes};
  wire::QpDbrec* dbrec = nullptr;
  wire::CqDbrec* send_cq_dbrec = nullptr;
  wire::CqDbrec* recv_cq_dbrec = nullptr;
  std::uint32_t pdn = 0;
  Mkey* mkey = nullptr;
  Cq* scq = nullptr;
  Cq* rcq = nullptr;
  Qp* qp = nullptr;
  std::uint64_t pi = 0;
  std::uint64_t ci = 0;
  std::uint64_t recv_ci = 0;
  std::uint32_t recv_pi = 0;
};

inline constexpr QpAttributes kUsual{.access = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic,
                                     .mtu_bytes = 1024,
                                     .min_rnr_nak = 1,
                                     .responder_reads = 16,
                                     .initiator_reads = 16,
                                     .ack_timeout = 14,
                                     .retry_count = 7,
                                     .rnr_retry = 7};

class TwoSides {
 public:
  explicit TwoSides(Checking checking = Checking::kStrict, const QpAttributes& attributes = kUsual);
  /// Steps until nothing moves; time advances by a microsecond a step.
  void run();
  void run_for(Time time);
  bool step();

  Time now{1};
  Engine engine;
  Side a;
  Side b;
};

std::uint32_t add_mkey(Device& device, Mkey mkey);  // returns the key

}  // namespace marrow::cx7::test
