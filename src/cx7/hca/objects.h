// SPDX-License-Identifier: Apache-2.0
// The device's objects other than the QP: protection domain, memory key, UAR page, queues that QPs share. Plain state;
// what is done with it stands in memory_key.cpp, completion.cpp and doorbell.cpp. Whoever touches them holds the
// device's lock (engine.h).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "marrow/wire/cqe.h"
#include "marrow/wire/doorbell.h"

namespace marrow::cx7 {

struct Qp;
struct Cq;
struct Srq;
class KeyLayout;

/// Rights of a memory key, the kernel's IB_ACCESS bits [abi: ib_uverbs_access_flags].
enum Access : std::uint32_t {
  kLocalWrite = 1u << 0,
  kRemoteWrite = 1u << 1,
  kRemoteRead = 1u << 2,
  kRemoteAtomic = 1u << 3,
  kWindowBind = 1u << 4,        // memory windows may show parts of it
  kRelaxedOrdering = 1u << 20,  // writes through this key may pass each other; optional, so ignoring it is correct
};

struct Pd {
  std::uint32_t pdn = 0;
  std::uint32_t users = 0;  // mkeys and QPs: a PD in use cannot be freed
};

inline constexpr std::uint32_t kAnyQp = 0xffffff;

/// A registered range; a memory window, which shows a part of one; or an indirect key, which shows pieces of several.
/// What shows nothing has no bytes. `iova` is what WQEs say; `host` is where those bytes lie in this process.
struct Mkey {
  enum class Kind : std::uint8_t { kRegion, kWindow, kIndirect };
  std::uint32_t key = 0;  // number << 8 | variant: both lkey and rkey
  std::uint32_t pdn = 0;
  std::uint32_t access = 0;
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;  // null for an indirect key
  Kind kind = Kind::kRegion;
  bool on_demand = false;             // pages need not be there, and may change, until bytes move
  std::uint32_t region = 0;           // window: key of what it shows, 0: nothing
  std::uint32_t qpn = kAnyQp;         // window of type 2: the one QP whose peers may use it
  std::shared_ptr<KeyLayout> layout;  // of an indirect key, which alone has one
  bool free = false;                  // indirect: nothing goes through it until a work request says what it shows
  bool configurable = false;          // indirect: work requests may say so
  bool remote_invalidate = false;     // indirect: peers may take it back
};

/// Whether GPU threads, here and in other processes, hear of it: they follow no indirect key and answer no page fault.
inline bool is_told(const Mkey& mkey) {
  return mkey.kind != Mkey::Kind::kIndirect && !mkey.on_demand;
}

inline constexpr std::uint32_t kUarRegisters = wire::kUarDoorbells / 2;

/// One doorbell page: this process's own mapping of what the application stores to.
struct Uar {
  std::uint32_t page = 0;          // number that contexts name as uar_page
  std::byte* registers = nullptr;  // kUarBytes, shared with the application
  std::vector<Qp*> qps;            // served by this engine, whose context names this page
  std::uint32_t gpu_qps = 0;       // those that GPU threads serve: then they alone look at the registers
  std::array<std::uint32_t, kUarRegisters> ringers{};  // QP that rang last, of each register with its two halves
  std::uint32_t shared = 0;                            // bit r: more than one QP has rung register r
  std::chrono::nanoseconds overlooked_until{0};        // a fault: doorbells are looked at late
};

/// What happened beside completions; values are those of the kernel's ib_event_type.
enum class AsyncEvent : std::uint8_t {
  kCqError = 0,
  kQpFatal = 1,
  kQpRequestError = 2,            // a peer asked for what is no request
  kQpAccessError = 3,             // ... or for memory that it may not touch
  kCommunicationEstablished = 4,  // a packet came to a QP that is not ready to send yet
  kPortActive = 9,
  kPortError = 10,
  kSrqError = 14,
  kSrqLimit = 15,
  kLastWqeReached = 16,  // a QP in error takes no more from its SRQ
};

/// What a completion or asynchronous event becomes: file descriptors are the ABI's business.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void completion_event(Cq&) {}
  /// The sink belongs to one object, which is what the event is about.
  virtual void async_event(AsyncEvent) {}
};

/// An arm word that nobody wrote: the first real one may well be 0.
inline constexpr std::uint32_t kArmPoison = 0x3fffffff;
inline constexpr std::uint8_t kNeverFired = 0xff;

struct Cq {
  std::uint32_t cqn = 0;
  std::uint32_t uar_page = 0;
  std::byte* entries = nullptr;  // application memory
  std::uint32_t log_entries = 0;
  std::uint32_t entry_bytes = 64;  // 128: the live half is the second
  bool collapsed = false;
  bool overrun_ignore = false;
  wire::CqDbrec* dbrec = nullptr;  // application memory

  std::uint64_t pi = 0;
  std::uint32_t known_ci = 0;  // consumer index as last read: read again only when the CQ seems full
  bool dead = false;           // overrun, or its memory is gone
  std::uint32_t users = 0;     // QPs: a CQ in use cannot be destroyed

  bool has_channel = false;             // only then is the arm word looked at
  std::uint8_t fired_sn = kNeverFired;  // sequence number of the arm word already answered
  std::uint32_t notified = 0;           // producer index when it fired last: no event tells of those CQEs again
  bool solicited_since_arm = false;
  EventSink* events = nullptr;
  std::uint64_t user_handle = 0;  // the ABI's, carried in the event
};

/// Where a CQ that is resized goes on.
struct CqMemory {
  std::byte* entries = nullptr;
  std::uint32_t log_entries = 0;
  std::uint32_t entry_bytes = 64;
};

/// A shared receive queue, or a receive memory pool, which is one that firmware made for a DEVX caller. Its WQEs are a
/// chain in a ring of slots: each begins with its successor's slot, which is settled when the WQE is posted, as the
/// application always keeps a free one behind it. A cyclic one is taken slot by slot.
struct Srq {
  std::uint32_t srqn = 0;
  std::uint32_t pdn = 0;
  std::byte* base = nullptr;  // application memory
  std::uint32_t entries = 0;  // slots, a power of two
  std::uint32_t stride_bytes = 0;
  bool cyclic = false;
  std::uint32_t header_bytes = wire::kDsBytes;  // before the scatter list, which names the successor
  wire::be32* dbrec = nullptr;                  // application memory: WQEs posted, free-running
  std::uint32_t user_index = 0;                 // XRC: in its CQEs
  std::uint32_t xrcd = 0;                       // XRC domain, 0: an SRQ that QPs name
  Cq* cq = nullptr;                             // XRC: where its receives complete
  std::uint32_t users = 0;                      // QPs and DCTs

  std::uint16_t next = 0;   // slot of the WQE to take
  std::uint16_t taken = 0;  // WQEs taken, free-running
  std::uint32_t limit = 0;  // an event, once, when fewer WQEs are left; 0: not armed
  bool dead = false;        // its memory is gone
  EventSink* events = nullptr;
};

}  // namespace marrow::cx7
