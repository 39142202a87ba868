// SPDX-License-Identifier: Apache-2.0
// State of one queue pair: the contexts of its requester (stop 6), responder (stop 7) and completer (stop 8). Of any
// transport; DC initiators and targets (dc.h) too: these live in one number space.
// Facts: what a QP context holds [prm: QPC]; requester and responder rules [prm: IBA vol. 1, ch. 9].
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cx7/fabric/packet.h"
#include "cx7/hca/dc.h"
#include "cx7/hca/key_change.h"
#include "cx7/hca/objects.h"
#include "cx7/hca/routing.h"
#include "marrow/wire/cqe.h"
#include "marrow/wire/prm.h"
#include "marrow/wire/wqe.h"

namespace marrow::cx7 {

using Time = std::chrono::nanoseconds;  // since any fixed point; the engine's caller owns the clock
using wire::prm::QpState;
using wire::prm::ServiceType;

/// A send queue as the firmware was told of it. Pointers are application memory.
struct SendRing {
  std::byte* base = nullptr;
  std::uint32_t wqebbs = 0;  // power of two, 0: no SQ
  [[nodiscard]] std::byte* at(std::uint32_t index) const {
    return base + std::size_t{index & (wqebbs - 1)} * wire::kWqebbBytes;
  }
};

struct RecvRing {
  std::byte* base = nullptr;
  std::uint32_t entries = 0;       // power of two, 0: no RQ
  std::uint32_t stride_bytes = 0;  // of one WQE
  [[nodiscard]] std::byte* at(std::uint32_t index) const {
    return base + std::size_t{index & (entries - 1)} * stride_bytes;
  }
};

inline constexpr std::uint32_t kNoUarPage = ~0u;

/// What CREATE_QP or CREATE_DCT fixes.
struct QpConfig {
  std::uint32_t qpn = 0;
  ServiceType service = ServiceType::kRc;
  std::uint32_t pdn = 0;
  std::uint32_t user_index = 0;
  std::uint32_t uar_page = 0;
  SendRing sq;
  RecvRing rq;
  wire::QpDbrec* dbrec = nullptr;  // application memory
  Cq* send_cq = nullptr;
  Cq* recv_cq = nullptr;  // null when there is no RQ and none was named
  EventSink* events = nullptr;
  std::uint64_t user_handle = 0;
  Srq* srq = nullptr;      // instead of an RQ
  std::uint32_t xrcd = 0;  // of an XRC target: its packets name SRQs of this domain
  Routing routing = {};    // of a DCI and of a UD QP
};

/// What the transitions set. One struct for the verbs ABI and for the firmware's commands.
struct QpAttributes {
  std::uint32_t access = 0;        // Access bits the peer may use on this QP
  std::uint8_t device = 0;         // own device
  std::uint8_t remote_device = 0;  // where the path leads; 0xff: nowhere (unknown LID or GID)
  std::uint32_t mtu_bytes = 0;
  std::uint32_t remote_qpn = 0;
  std::uint32_t recv_psn = 0;
  std::uint32_t send_psn = 0;
  std::uint8_t min_rnr_nak = 0;      // timer code this responder sends
  std::uint8_t responder_reads = 0;  // reads and atomics accepted at once: the number, not its log
  std::uint8_t initiator_reads = 0;  // issued at once
  std::uint8_t ack_timeout = 0;      // 4.096 us << T, 0 infinite
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry = 0;  // 7 infinite
  std::uint8_t log_ack_req_freq = 0;
  std::uint32_t qkey = 0;  // UD
};

/// A range of memory whose key was checked, as an element of a gather or scatter list. A key that is destroyed
/// meanwhile takes its spans along: they lead nowhere then. What lies behind an indirect key is looked up whenever
/// bytes move.
struct Span {
  std::byte* host = nullptr;
  std::uint64_t va = 0;  // indirect
  std::uint32_t bytes = 0;
  std::uint32_t key = 0;
  std::uint32_t inner_access = 0;  // indirect: rights that the keys behind it must give
  bool indirect = false;
  explicit operator bool() const { return host != nullptr || indirect; }
};

inline constexpr std::uint32_t kMaxSpans = 32;

constexpr bool is_masked_atomic(wire::Opcode opcode) {
  return opcode == wire::Opcode::kMaskedCompareSwap || opcode == wire::Opcode::kMaskedFetchAdd;
}
constexpr bool is_atomic(wire::Opcode opcode) {
  return opcode == wire::Opcode::kCompareSwap || opcode == wire::Opcode::kFetchAdd || is_masked_atomic(opcode);
}

/// A read or an atomic: its data segments receive, and it is done when its response has come.
constexpr bool awaits_response(wire::Opcode opcode) {
  return opcode == wire::Opcode::kRead || is_atomic(opcode);
}

/// Done on this side alone: nothing travels.
constexpr bool is_local(wire::Opcode opcode) {
  return opcode == wire::Opcode::kNop || opcode == wire::Opcode::kUmr;
}

/// Nobody acknowledges: a WQE is done when its last packet is out.
constexpr bool is_unreliable(ServiceType service) {
  return service == ServiceType::kUc || service == ServiceType::kUd;
}

constexpr Transport transport_of(ServiceType service) {
  switch (service) {
    case ServiceType::kUc:
      return Transport::kUc;
    case ServiceType::kUd:
      return Transport::kUd;
    case ServiceType::kXrc:
      return Transport::kXrc;
    default:
      return Transport::kRc;  // DC too, with a mark of its own
  }
}

/// A send WQE decoded and checked against this side's keys.
struct DecodedWqe {
  wire::CtrlSegment ctrl{};
  std::uint32_t wqebbs = 0;
  std::uint32_t bytes = 0;  // of the message
  std::uint64_t va = 0;
  std::uint32_t rkey = 0;
  std::uint64_t swap_add = 0;
  std::uint64_t compare = 0;  // masked add: where a carry stops
  std::uint64_t swap_mask = 0;
  std::uint64_t compare_mask = 0;
  KeyChange key_change;    // UMR
  std::uint32_t srqn = 0;  // XRC
  std::uint32_t spans = 0;
  std::array<Span, kMaxSpans> span;
  bool is_inline = false;
  wire::AddressVector av{};  // of a DCI's or a UD QP's WQE; the extension is zero where the WQE has none
  alignas(16) std::array<std::byte, 1024> inline_bytes;
};

/// A WQE that was sent and not yet retired. Enough to find its packets again; the rest is read anew from the SQ.
struct SentWqe {
  std::uint16_t index = 0;  // first WQEBB
  std::uint8_t wqebbs = 0;
  wire::Opcode opcode{};
  wire::Completion completion{};
  bool answered = false;  // a read or atomic whose response is complete
  std::uint32_t first_psn = 0;
  std::uint32_t packets = 1;  // PSNs it takes
  std::uint32_t bytes = 0;
  std::uint32_t received = 0;  // response packets of a read that arrived
  [[nodiscard]] std::uint32_t last_psn() const { return psn_add(first_psn, packets - 1); }
};

struct Requester {
  static constexpr std::uint32_t kNowhere = ~0u;
  std::uint32_t rung = 0;             // SQ index announced by a doorbell, free-running in 32 bits
  std::uint32_t rings_at = kNowhere;  // register of its UAR page, as far as it is known
  std::uint32_t looked = 0;           // lenient: announced WQEBBs before it were looked at when they were announced
  std::uint32_t posted = 0;           // SQ index that may be fetched: rung and recorded
  std::uint32_t next = 0;             // next WQEBB to fetch
  std::uint32_t done = 0;             // everything before is retired
  std::vector<SentWqe> window;        // ring, one element a WQEBB of the SQ
  std::uint32_t window_mask = 0;      // its size less one
  std::uint32_t oldest = 0;           // window indices, free-running
  std::uint32_t newest = 0;           // one behind the last
  std::uint32_t sending = 0;          // the element whose packets go out now; == newest: fetch another
  std::uint32_t sending_packet = 0;
  std::uint32_t next_psn = 0;   // of the next new WQE
  std::uint32_t reads_out = 0;  // reads and atomics not answered
  std::uint32_t unacked_since_request = 0;
  std::uint8_t retries_left = 0;
  std::uint8_t rnr_left = 0;
  Time deadline{0};            // of the ACK awaited; 0: none
  Time held_until{0};          // receiver-not-ready pause; 0: none
  Time moved_unrung_since{0};  // strict mode: dbrec ahead of the doorbell
  bool unrung_reported = false;
  std::uint32_t acked_psn = 0;              // everything up to it arrived at the peer
  std::uint32_t window_bytes = UINT32_MAX;  // that may be on their way to the peer unacknowledged
  struct Failure {
    bool pending = false;  // reported once everything before it is retired
    std::uint16_t index = 0;
    wire::Opcode opcode{};
    wire::Syndrome syndrome{};
    std::uint8_t vendor = 0;
  } failure;
  bool decoded_valid = false;  // decoded belongs to window[sending]
  DecodedWqe decoded;
  bool scatter_valid = false;  // scatter belongs to window[scatter_entry]
  std::uint32_t scatter_entry = 0;
  DecodedWqe scatter;  // where a read's response goes
};

/// A read or atomic the responder owes an answer to, or may be asked for again.
struct ResponderResource {
  enum class Kind : std::uint8_t { kNone, kRead, kAtomic };
  Kind kind = Kind::kNone;
  std::uint32_t first_psn = 0;
  std::uint32_t packets = 1;
  std::uint32_t msn = 0;
  std::uint32_t pdn = 0;
  std::uint64_t va = 0;
  std::uint32_t rkey = 0;
  std::uint32_t bytes = 0;
  std::uint32_t sent = 0;      // response packets already out; == packets: answered
  std::uint64_t original = 0;  // atomic
};

inline constexpr std::uint32_t kMaxResources = 16;

struct Responder {
  enum class Message : std::uint8_t { kNone, kSend, kWrite };
  std::uint32_t expected_psn = 0;
  std::uint32_t msn = 0;
  Message message = Message::kNone;  // in the middle of it
  std::uint64_t va = 0;              // where the next payload byte goes (write)
  std::uint32_t rkey = 0;
  std::uint32_t left = 0;      // bytes of the write still to come
  std::uint32_t received = 0;  // bytes of the message so far
  bool established = false;    // a packet came
  Srq* srq = nullptr;          // of the message under way: the QP's own, or the one that an XRC packet named
  bool recv_wqe_taken = false;
  bool recv_failed = false;        // a CQE has said so
  std::uint16_t recv_counter = 0;  // of the WQE taken: its index in the RQ, or its slot in the SRQ
  std::uint32_t recv_index = 0;    // next WQE of the RQ, free-running
  std::uint32_t spans = 0;
  std::array<Span, kMaxSpans> span;
  bool ack_owed = false;
  bool nak_owed = false;
  std::uint8_t nak_syndrome = 0;
  std::uint32_t nak_psn = 0;
  bool sequence_nak_sent = false;  // one for each gap
  std::array<ResponderResource, kMaxResources> resources;
  std::uint32_t resource_first = 0;     // answers owed from here ...
  std::uint32_t resource_next = 0;      // ... to here, free-running
  std::uint32_t resource_answered = 0;  // those before were answered once: what is owed of them is owed again
  /// Whether the peer may ask for one more read or atomic. What it asked for again does not count: who asks for a new
  /// one beyond its window has had the oldest answer.
  [[nodiscard]] bool may_owe_more(std::uint32_t most) const { return resource_next - resource_answered < most; }
  void owe(const ResponderResource& resource) {
    if (resource_next - resource_first == kMaxResources) ++resource_first;
    resources[resource_next++ % kMaxResources] = resource;
  }
};

struct Qp {
  QpConfig config;
  QpAttributes attributes;
  QpState state = QpState::kReset;
  Requester requester;
  Responder responder;
  std::unique_ptr<DcInitiator> dci;  // of a DCI alone
  std::unique_ptr<DcTarget> dct;     // of a DCT alone; its connections are Qps that only respond
  bool ready = false;                // in the engine's list of QPs with something to do
  bool on_gpu = false;               // GPU threads serve its send queue (gpu_engine.h); here it is a target only
};

}  // namespace marrow::cx7
