// SPDX-License-Identifier: Apache-2.0
// Before stop 1: a send queue whose memory is ours, made through DEVX, ready to be handed to a lane as a gda::Qp: RC,
// or a DCI, whose destinations stand in its WQEs (dct.h). An RQ only where immediates are to come: its WQEs hold no
// address. Order of calls: memory, umems, UAR, CQs, QP; destroyed in reverse.
//
//   DevxQp a(context, pd, {.sq_wqebbs = 128});
//   connect(a, b);                     // or exchange address() by other means and call connect() on both sides
//   gda::SendQueue<gda::GpuFence> sq{a.handle()};
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "marrow/gda/handles.h"
#include "marrow/wire/prm.h"
#include "verbs/address.h"
#include "verbs/context.h"
#include "verbs/handle.h"
#include "verbs/memory.h"
#include "verbs/uar.h"

namespace marrow::verbs {

/// kIgnore: the device never looks whether CQEs were read, as our lanes never tell it. kChecked is for tests of what
/// then happens: the CQ dies once more CQEs have been written than it has entries.
enum class CqOverrun : std::uint8_t { kIgnore, kChecked };

/// Where the queue's parts come from; one without a source lies in host memory. A queue that lanes on a GPU use wants
/// its counters in that GPU's memory.
struct QueueMemory {
  MemorySource sq;  // and RQ
  MemorySource cq;  // both
  MemorySource dbrec;
  MemorySource counters;  // the lanes' alone: never the device's
};

struct DevxQpOptions {
  wire::prm::ServiceType service = wire::prm::ServiceType::kRc;  // or kDci
  std::uint64_t dc_key = 0;                                      // of a DCI
  std::uint32_t sq_wqebbs = 128;                                 // a power of two
  gda::CqLayout cq_layout = gda::CqLayout::kCollapsed;
  CqOverrun overrun = CqOverrun::kIgnore;
  std::uint32_t cqes = 0;      // a power of two; 0: as many as the SQ has WQEBBs
  std::uint32_t receives = 0;  // immediates that may be out at once: a power of two from 4 on; 0: none, and no RQ
  UarChoice uar = UarChoice::kBest;
  std::uint32_t user_index = 0;
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);  // of a lane's waits
  Behaviour behaviour;
  QueueMemory memory = {};
};

/// What the firmware says of a QP now, for dumps.
struct QpSnapshot {
  wire::prm::QpState state{};
  std::uint32_t remote_qpn = 0;
  std::uint32_t next_send_psn = 0;
  std::uint16_t hw_sq_wqebb_counter = 0;  // the next that the device will execute
  std::uint16_t sw_sq_wqebb_counter = 0;  // what it has been told of
};
[[nodiscard]] std::string describe(const QpSnapshot& snapshot);

class DevxQp {
 public:
  using Options = DevxQpOptions;

  /// Throws util::Error: kUsage when an option is beyond the device's limits, kFailed when the device refuses.
  DevxQp(const Context& context, const Pd& pd, const Options& options);
  DevxQp(DevxQp&&) = default;
  DevxQp& operator=(DevxQp&&) = delete;

  [[nodiscard]] std::uint32_t qpn() const { return qpn_; }
  [[nodiscard]] std::uint32_t cqn() const { return cqn_; }
  [[nodiscard]] const Address& address() const { return address_; }
  /// For a host lane. A GPU lane takes the same with `doorbell` replaced by its own address of that register.
  [[nodiscard]] gda::Qp handle() const;
  /// For gda::ReceiveQueue, of a lane on the host or on a GPU. Without receives it has none.
  [[nodiscard]] gda::ReceiveRing receive_ring() const;
  /// "SQ, CQ and dbrec in host memory by address"
  [[nodiscard]] std::string describe_memory() const;

  /// RST to RTS. The peer may send as soon as this returns; we may send once the peer has connected too.
  void connect(const Address& peer);
  /// Of a DCI: RST to RTS. It needs no peer.
  void start();
  /// Makes the QP refuse everything: outstanding and later WQEs end as flushed.
  void to_error();
  [[nodiscard]] QpSnapshot query() const;

 private:
  /// What a lane and the device share, behind the SQ and the CQ. Each on a line of its own.
  struct Records {
    alignas(64) wire::QpDbrec qp;
    alignas(64) wire::CqDbrec cq;
    alignas(64) wire::CqDbrec receive_cq;
  };
  struct Counters {
    gda::QpCounters send;
    gda::ReceiveCounters receive;
  };
  void create_cq();
  void create_receive_cq();
  void create_qp();
  [[nodiscard]] std::size_t rq_bytes() const { return std::size_t{options_.receives} * wire::kDsBytes; }
  [[nodiscard]] bool is_dci() const { return options_.service == wire::prm::ServiceType::kDci; }
  void modify(std::span<const std::byte> in);

  const Context* context_;
  const Pd* pd_;
  Options options_;
  std::unique_ptr<Memory> sq_memory_;
  std::unique_ptr<Memory> cq_memory_;
  std::unique_ptr<Memory> receive_cq_memory_;  // null without receives
  std::unique_ptr<Memory> record_memory_;
  std::unique_ptr<Memory> counter_memory_;
  Umem sq_umem_;
  Umem cq_umem_;
  Umem record_umem_;
  std::optional<Umem> receive_cq_umem_;
  Uar uar_;
  DevxHandle cq_;
  DevxHandle receive_cq_;
  DevxHandle qp_;
  std::uint32_t cqn_ = 0;
  std::uint32_t receive_cqn_ = 0;
  std::uint32_t qpn_ = 0;
  Address address_;
};

}  // namespace marrow::verbs
