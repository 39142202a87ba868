// SPDX-License-Identifier: Apache-2.0
// Stop 2 of 9, its middle: a request becomes a WQE in its slot, one 16-byte store a segment, always whole. What a send
// queue of any sharing offers between reserve() and submit(): called by one lane a slot, in any order. Facts: WQEs may
// cross the end of the ring at any 16-byte segment [dv: qp.c].
#pragma once

#include <cstdint>

#include "marrow/gda/order.h"
#include "marrow/gda/probe.h"
#include "marrow/gda/requests.h"
#include "marrow/gda/residence.h"
#include "marrow/wire/dc.h"
#include "marrow/wire/masked_atomic.h"

namespace marrow::gda {

/// The target of a DC lane; nothing for RC.
template <bool IsDc>
struct Aim {};
template <>
struct Aim<true> {
  const wire::AddressVector* aimed_at = nullptr;
};

template <PolicyType P, class Probe>
class WqeWriter : Aim<kAvDs<P> != 0>, Probe {  // a base, for nvcc 13.0 fails on [[no_unique_address]] members here
  static constexpr std::uint32_t kRemote = 1 + kAvDs<P>;  // the segment of the remote address
  static constexpr std::uint32_t kData = kRemote + 1;

 public:
  /// Of a DCI: where this lane's next WQEs go. `target` must live until they are written. Cost: a pointer now, and for
  /// each WQE one or three 16-byte loads and stores. Another target than the WQE before may cost the NIC a pause.
  MARROW_HD void aim(const wire::AddressVector& target) {
    static_assert(kAvDs<P> != 0, "marrow: an RC queue has one peer; aim() is for a DC policy (Via<P, kDcCompact>)");
    this->aimed_at = &target;
  }

  /// RDMA write as the policy's Payload says: inline or by pointer. Cost: one 16-byte store a segment (3 for 8 bytes).
  /// Errors: none here. A wrong length or slot size posts a NOP and makes wait() return kBadRequest.
  MARROW_HD void write(const Slot& slot, const Put& put) { put_as(slot, {wire::Opcode::kWrite}, put); }

  /// As write(); the peer gets a CQE with `imm`, if it has posted a receive.
  MARROW_HD void write_imm(const Slot& slot, const Put& put, std::uint32_t imm) {
    put_as(slot, {wire::Opcode::kWriteImm, 0, imm}, put);
  }

  /// RDMA write of `bytes` at `from`, memory that the lane can read and may reuse at once.
  MARROW_HD void write_inline(const Slot& slot, Remote to, const std::byte* from, std::uint32_t bytes) {
    inline_as(slot, {wire::Opcode::kWrite}, to, from, bytes);
  }

  /// RDMA write of 8 bytes from a register: no load at all.
  MARROW_HD void write_value(const Slot& slot, Remote to, std::uint64_t value) { value_as(slot, to, value, 8); }
  MARROW_HD void write_value4(const Slot& slot, Remote to, std::uint32_t value) { value_as(slot, to, value, 4); }

  /// RDMA read: `to` holds the bytes once wait() has returned.
  MARROW_HD void read(const Slot& slot, const Get& get) {
    transfer(slot, {wire::Opcode::kRead}, {get.from, get.to, get.bytes});
  }

  MARROW_HD void fetch_add(const Slot& slot, const FetchAdd& op) {
    atomic(slot, {wire::Opcode::kFetchAdd}, Operand{op.at, op.result, 8},
           wire::AtomicSegment{wire::be64(op.add), wire::be64(0)});
  }
  MARROW_HD void compare_swap(const Slot& slot, const CompareSwap& op) {
    atomic(slot, {wire::Opcode::kCompareSwap}, Operand{op.at, op.result, 8},
           wire::AtomicSegment{wire::be64(op.swap), wire::be64(op.compare)});
  }
  /// The low 32 bits of operand and boundary, at 4 bytes of the peer.
  MARROW_HD void masked_add4(const Slot& slot, const MaskedAdd& op) {
    atomic(slot, {wire::Opcode::kMaskedFetchAdd, wire::kMasked4}, Operand{op.at, op.result, 4},
           wire::MaskedAdd4{low(op.add), low(op.boundary), wire::be64(0)});
  }
  MARROW_HD void masked_add8(const Slot& slot, const MaskedAdd& op) {
    atomic(slot, {wire::Opcode::kMaskedFetchAdd, wire::kMasked8}, Operand{op.at, op.result, 8},
           wire::MaskedAdd8{wire::be64(op.add), wire::be64(op.boundary)});
  }
  MARROW_HD void masked_swap4(const Slot& slot, const MaskedSwap& op) {
    atomic(slot, {wire::Opcode::kMaskedCompareSwap, wire::kMasked4}, Operand{op.at, op.result, 4},
           wire::MaskedSwap4{low(op.swap), low(op.compare), low(op.swap_mask), low(op.compare_mask)});
  }
  /// Takes a slot of two WQEBBs.
  MARROW_HD void masked_swap8(const Slot& slot, const MaskedSwap& op) {
    static_assert(!kShortWqes<P>,
                  "marrow: an 8-byte masked swap takes two WQEBBs; give the policy max_inline_bytes above 28");
    atomic(slot, {wire::Opcode::kMaskedCompareSwap, wire::kMasked8}, Operand{op.at, op.result, 8},
           wire::MaskedSwap8{wire::be64(op.swap), wire::be64(op.compare), wire::be64(op.swap_mask),
                             wire::be64(op.compare_mask)});
  }

  /// Does nothing, in its turn.
  MARROW_HD void nop(const Slot& slot) {
    if (slot.wqebbs == 0 || slot.wqebbs > kMaxWqebbs) return refuse(slot);
    post_nop(slot);
  }

  [[nodiscard]] MARROW_HD Probe& probe() { return *this; }

 protected:
  MARROW_HD explicit WqeWriter(const Qp& qp) : qp_(qp) {}

  HandleOf<P> qp_;
  bool refused_ = false;

 private:
  struct Verb {
    wire::Opcode opcode;
    std::uint8_t opmod = 0;
    std::uint32_t imm = 0;
  };
  struct Operand {
    Remote at;
    Local result;
    std::uint32_t bytes;
  };

  MARROW_HD void put_as(const Slot& slot, const Verb& verb, const Put& put) {
    if constexpr (P::payload == Payload::kInline) {
      inline_as(slot, verb, put.to, reinterpret_cast<const std::byte*>(put.from.addr), put.bytes);
    } else {
      transfer(slot, verb, put);
    }
  }

  MARROW_HD void inline_as(const Slot& slot, const Verb& verb, Remote to, const std::byte* from, std::uint32_t bytes) {
    const bool fits = bytes <= P::max_inline_bytes && bytes <= qp_.max_inline_bytes;
    if (!fits || slot.wqebbs != wire::wqebbs_of(kData + wire::inline_ds(bytes))) return refuse(slot);
    const std::uint32_t ds = kData + wire::inline_ds(bytes);
    if (!start(slot, verb, ds, to)) return;
    Segment s{{wire::inline_header(bytes).flag_bytes.raw}};
    std::uint32_t word = 1;  // of the segment: the header was word 0
    for (std::uint32_t k = kData, at = 0; k < ds; ++k, word = 0) {
      for (; word < 4; ++word, at += 4) s.words[word] = at < bytes ? payload_word(from + at, bytes - at) : 0;
      store_segment<P::wqe_store>(segment(slot.wqebb, k), s);
    }
    done(ds);
  }

  MARROW_HD void value_as(const Slot& slot, Remote to, std::uint64_t value, std::uint32_t bytes) {
    if (slot.wqebbs != wire::wqebbs_of(kData + 1)) return refuse(slot);
    if (!start(slot, {wire::Opcode::kWrite}, kData + 1, to)) return;
    store_segment<P::wqe_store>(segment(slot.wqebb, kData),
                                {{wire::inline_header(bytes).flag_bytes.raw, static_cast<std::uint32_t>(value),
                                  static_cast<std::uint32_t>(value >> 32), 0}});
    done(kData + 1);
  }

  /// Write, or read: then `to` is the source. A byte count of 0 in a data segment would mean 2^31: a transfer of
  /// nothing has none.
  MARROW_HD void transfer(const Slot& slot, const Verb& verb, const Put& t) {
    const std::uint32_t ds = t.bytes == 0 ? kData : kData + 1;
    if (slot.wqebbs != wire::wqebbs_of(ds) || t.bytes >= wire::kInlineFlag) return refuse(slot);
    if (!start(slot, verb, ds, t.to)) return;
    if (t.bytes != 0) store(slot, kData, wire::data_segment({t.from.addr, t.from.lkey}, t.bytes));
    done(ds);
  }

  template <class WireSegment>
  MARROW_HD void atomic(const Slot& slot, const Verb& verb, const Operand& on, const WireSegment& operand) {
    constexpr std::uint32_t kOperandDs = sizeof(WireSegment) / wire::kDsBytes;
    constexpr std::uint32_t ds = kData + kOperandDs + 1;
    if (slot.wqebbs != wire::wqebbs_of(ds)) return refuse(slot);
    if (!start(slot, verb, ds, on.at)) return;
    store(slot, kData, operand);
    store(slot, kData + kOperandDs, wire::data_segment(wire::LocalRef{on.result.addr, on.result.lkey}, on.bytes));
    done(ds);
  }

  /// Address of segment `k`; a WQE of one WQEBB never crosses the end of the ring.
  [[nodiscard]] MARROW_HD std::byte* segment(std::uint64_t wqebb, std::uint32_t k) const {
    const auto at = (wqebb + k / 4) & qp_.sq_mask();
    return qp_.sq + at * wire::kWqebbBytes + k % 4 * wire::kDsBytes;
  }
  template <class WireSegments>
  MARROW_HD void store(const Slot& slot, std::uint32_t k, const WireSegments& from) {
    static_assert(sizeof(WireSegments) % sizeof(Segment) == 0);
    for (std::uint32_t i = 0; i < sizeof(WireSegments) / sizeof(Segment); ++i) {
      Segment s;
      memcpy(&s, reinterpret_cast<const std::byte*>(&from) + i * sizeof s, sizeof s);
      store_segment<P::wqe_store>(segment(slot.wqebb, k + i), s);
    }
  }

  MARROW_HD void control(const Slot& slot, const Verb& verb, std::uint32_t ds) {
    probe().on_stage(Stage::kCaller);
    wire::Post post{qp_.qpn, static_cast<std::uint32_t>(slot.wqebb), slot.completion};
    post.imm = verb.imm;
    post.opmod = verb.opmod;
    store(slot, 0, wire::ctrl_segment(post, verb.opcode, ds));
  }
  /// Control, address, remote. False, and a NOP, when a DC lane has no target.
  [[nodiscard]] MARROW_HD bool start(const Slot& slot, const Verb& verb, std::uint32_t ds, Remote remote) {
    if constexpr (kAvDs<P> != 0) {
      if (this->aimed_at == nullptr) {
        refuse(slot);
        return false;
      }
    }
    control(slot, verb, ds);
    if constexpr (kAvDs<P> != 0) store(slot, 1, wire::av_head(*this->aimed_at, kAvDs<P>));
    if constexpr (kAvDs<P> == wire::kFullAvDs) store(slot, 2, this->aimed_at->extension);
    store(slot, kRemote, wire::remote_segment({remote.addr, remote.rkey}));
    return true;
  }
  MARROW_HD void done(std::uint32_t ds) {
    probe().on_wqe(ds);
    probe().on_stage(Stage::kWrite);
  }

  MARROW_HD void post_nop(const Slot& slot) {
    control(slot, {wire::Opcode::kNop}, slot.wqebbs == 1 ? 1 : slot.wqebbs * 4);
    done(1);
  }
  /// The slot becomes a NOP of its full size, so that the queue goes on; the lane remembers.
  MARROW_HD void refuse(const Slot& slot) {
    if (slot.wqebbs == 0) return;  // of a failed reservation
    refused_ = true;
    if (slot.wqebbs <= kMaxWqebbs) post_nop(slot);  // else beyond the reservation
  }

  /// Up to four bytes of payload as they lie in memory. Inline payload is only 4-byte aligned in the WQE.
  [[nodiscard]] MARROW_HD static std::uint32_t payload_word(const std::byte* from, std::uint32_t left) {
    std::uint32_t word = 0;
    if (left >= 4 && reinterpret_cast<std::uintptr_t>(from) % 4 == 0) {
      memcpy(&word, __builtin_assume_aligned(from, 4), 4);
    } else {
      memcpy(&word, from, left < 4 ? left : 4);
    }
    return word;
  }

  [[nodiscard]] MARROW_HD static wire::be32 low(std::uint64_t v) { return wire::be32(static_cast<std::uint32_t>(v)); }
};

}  // namespace marrow::gda
