// SPDX-License-Identifier: Apache-2.0
// Part of stop 6: a WQE's bytes become a message, or a refusal. Strict mode refuses reserved bits and a wrong index.
// Facts: segments and their order [dv]; which syndrome for what [prm: CQE syndromes], vendor bytes [obs: CX-6].
#include <cstring>

#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"
#include "marrow/wire/masked_atomic.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

using wire::Opcode;
using wire::Syndrome;

constexpr Refusal kMalformed{Syndrome::kLocalQpOperation, 0x68};
constexpr Refusal kProtection{Syndrome::kLocalProtection, 0x51};
constexpr std::uint64_t kMaxMessage = 1u << 30;

template <class Segment>
Segment segment_at(std::span<const std::byte> segments, std::size_t ds) {
  Segment segment;
  std::memcpy(&segment, segments.data() + ds * wire::kDsBytes, sizeof segment);
  return segment;
}

bool is_modelled(Opcode opcode) {
  switch (opcode) {
    case Opcode::kNop:
    case Opcode::kWrite:
    case Opcode::kWriteImm:
    case Opcode::kSend:
    case Opcode::kSendImm:
    case Opcode::kRead:
    case Opcode::kCompareSwap:
    case Opcode::kFetchAdd:
    case Opcode::kSendInvalidate:
    case Opcode::kMaskedCompareSwap:
    case Opcode::kMaskedFetchAdd:
    case Opcode::kUmr:
      return true;
    case Opcode::kLocalInvalidate:
      return false;
  }
  return false;
}

/// The shapes that an atomic's opcode and modifier give: bytes of operands and of the target, 0 for a pair that is
/// none.
struct AtomicShape {
  std::uint32_t operand_bytes = 0;
  std::uint32_t bytes = 0;
};

AtomicShape shape_of(const wire::CtrlSegment& ctrl) {
  const bool swap = ctrl.opcode() == Opcode::kMaskedCompareSwap;
  if (!is_masked_atomic(ctrl.opcode())) return {sizeof(wire::AtomicSegment), 8};
  if (ctrl.opmod() == wire::kMasked4) return {sizeof(wire::MaskedSwap4), 4};
  if (ctrl.opmod() != wire::kMasked8) return {};
  return {swap ? std::uint32_t{sizeof(wire::MaskedSwap8)} : std::uint32_t{sizeof(wire::MaskedAdd8)}, 8};
}

// Datagrams carry sends, and where nobody answers there is nothing to read [prm: IBA vol. 1, table 44].
bool is_allowed(ServiceType service, Opcode opcode) {
  const bool send = opcode == Opcode::kSend || opcode == Opcode::kSendImm || opcode == Opcode::kNop;
  if (service == ServiceType::kUd) return send;
  const bool write = opcode == Opcode::kWrite || opcode == Opcode::kWriteImm;
  return service != ServiceType::kUc || send || write || opcode == Opcode::kUmr;
}
bool has_remote(Opcode opcode) {
  return opcode == Opcode::kWrite || opcode == Opcode::kWriteImm || opcode == Opcode::kRead || is_atomic(opcode);
}

// The last word is left out: libmlx5's ibv_wr_* calls leave whatever stood there when the opcode has no immediate
// [obs]. A DCI without streams does not look at the stream's number, and perftest counts it up [obs].
bool has_reserved_bits(const wire::CtrlSegment& ctrl, bool is_dci) {
  constexpr std::uint32_t kStream = 0x00ffff00;
  const std::uint32_t reserved = 0xff000000u | 0x11u | (is_dci ? 0 : kStream);  // signature, bits 4 and 0
  const bool modified = ctrl.opmod() != 0 && !is_masked_atomic(ctrl.opcode());
  return modified || (ctrl.qpn_ds.host() & 0xc0) != 0 || (ctrl.signature_flags.host() & reserved) != 0;
}

bool has_reserved_bits(const wire::AddressVector& av) {
  constexpr std::uint32_t kReservedDctn = 0x7f000000;
  constexpr std::uint32_t kReservedGrh = 0xb0000000;
  constexpr std::uint8_t kForcedLoopback = 0x80;
  constexpr std::array<std::uint8_t, 4> kZero{};
  return (av.compact.extension_dctn.host() & kReservedDctn) != 0 || (av.compact.path_bits & kForcedLoopback) != 0 ||
         av.extension.reserved != kZero || (av.extension.grh.host() & kReservedGrh) != 0;
}

}  // namespace

Refusal DataPath::decode(const Qp& qp, std::uint32_t index, DecodedWqe& wqe) {
  alignas(16) std::array<std::byte, 16 * wire::kWqebbBytes> block;
  const auto& sq = qp.config.sq;
  if (!dma::copy(block.data(), sq.at(index), wire::kWqebbBytes)) return kProtection;
  std::memcpy(&wqe.ctrl, block.data(), sizeof wqe.ctrl);

  const auto ds = wqe.ctrl.ds();
  wqe.wqebbs = wire::wqebbs_of(ds);
  if (wqe.ctrl.index() != static_cast<std::uint16_t>(index) || wqe.ctrl.qpn() != qp.config.qpn) {
    if (strict()) ++device_.counters.strict_stale_wqe_index;  // lenient: counted when the doorbell rang
    util::log::once("wqe.stale", "QP {:#x}: WQE at index {} says index {}, QP {:#x}", qp.config.qpn, index & 0xffff,
                    wqe.ctrl.index(), wqe.ctrl.qpn());
    if (strict()) return kMalformed;
  }
  if (has_reserved_bits(wqe.ctrl, qp.dci != nullptr)) {
    ++device_.counters.strict_wqe_reserved_bits;
    util::log::once("wqe.reserved", "QP {:#x}: WQE {} has reserved control bits set: {:#010x} {:#010x} {:#010x}",
                    qp.config.qpn, index & 0xffff, wqe.ctrl.opmod_index_opcode.host(), wqe.ctrl.qpn_ds.host(),
                    wqe.ctrl.signature_flags.host());
    if (strict()) return kMalformed;
  }
  if (!is_modelled(wqe.ctrl.opcode())) {
    util::log::once("wqe.opcode", "WQE opcode {:#x} is not modelled", static_cast<unsigned>(wqe.ctrl.opcode()));
    return kMalformed;
  }
  if (!is_allowed(qp.config.service, wqe.ctrl.opcode())) return kMalformed;
  // A WQE must end where posted work ends, and blocks beyond the ring would overlap its beginning.
  const bool whole = static_cast<std::int32_t>(qp.requester.posted - (index + wqe.wqebbs)) >= 0;
  if (ds == 0 || !whole || wqe.wqebbs > sq.wqebbs) return kMalformed;
  for (std::uint32_t k = 1; k < wqe.wqebbs; ++k) {
    if (!dma::copy(block.data() + k * wire::kWqebbBytes, sq.at(index + k), wire::kWqebbBytes)) return kProtection;
  }
  return parse_segments(qp, {block.data(), std::size_t{ds} * wire::kDsBytes}, wqe);
}

Refusal DataPath::parse_segments(const Qp& qp, std::span<const std::byte> segments, DecodedWqe& wqe) {
  const auto opcode = wqe.ctrl.opcode();
  wqe.bytes = 0;
  wqe.spans = 0;
  wqe.is_inline = false;
  if (opcode == Opcode::kNop) return {};  // whatever its length: a cancelled WQE keeps its segments
  segments = segments.subspan(wire::kDsBytes);
  if (opcode == Opcode::kUmr) return parse_key_change(segments, wqe);
  if (qp.dci != nullptr || qp.config.service == ServiceType::kUd) {
    if (const auto refusal = take_av(segments, wqe)) return refusal;
  }
  if (qp.config.service == ServiceType::kXrc) {
    if (segments.size() < wire::kDsBytes) return kMalformed;
    wqe.srqn = segment_at<wire::be32>(segments, 0).host() & 0xffffff;
    segments = segments.subspan(wire::kDsBytes);
  }
  if (has_remote(opcode)) {
    if (segments.size() < wire::kDsBytes) return kMalformed;
    const auto remote = segment_at<wire::RemoteSegment>(segments, 0);
    if (remote.reserved.raw != 0) {
      ++device_.counters.strict_wqe_reserved_bits;
      if (strict()) return kMalformed;
    }
    wqe.va = remote.addr.host();
    wqe.rkey = remote.rkey.host();
    segments = segments.subspan(wire::kDsBytes);
  }
  if (is_atomic(opcode)) {
    if (const auto refusal = take_atomic(segments, wqe)) return refusal;
  }
  if (const auto refusal = add_data(qp, segments, wqe)) return refusal;
  if (is_atomic(opcode) && (wqe.bytes != shape_of(wqe.ctrl).bytes || wqe.spans != 1)) return kMalformed;
  if (qp.config.service == ServiceType::kUd && wqe.bytes > qp.attributes.mtu_bytes) {
    return {Syndrome::kLocalLength, 0};
  }
  return {};
}

// One operand or two, with masks or without.
Refusal DataPath::take_atomic(std::span<const std::byte>& segments, DecodedWqe& wqe) {
  const auto shape = shape_of(wqe.ctrl);
  // The old value always needs a place.
  if (shape.bytes == 0 || segments.size() < shape.operand_bytes + wire::kDsBytes) return kMalformed;
  if (wqe.ctrl.opcode() == Opcode::kMaskedFetchAdd && shape.bytes == 4) {
    const auto add = segment_at<wire::MaskedAdd4>(segments, 0);
    wqe.swap_add = add.add.host();
    wqe.compare = add.boundary.host();
  } else if (shape.bytes == 4) {
    const auto swap = segment_at<wire::MaskedSwap4>(segments, 0);
    wqe.swap_add = swap.swap.host();
    wqe.compare = swap.compare.host();
    wqe.swap_mask = swap.swap_mask.host();
    wqe.compare_mask = swap.compare_mask.host();
  } else {
    const auto atomic = segment_at<wire::AtomicSegment>(segments, 0);
    wqe.swap_add = atomic.swap_add.host();
    wqe.compare = atomic.compare.host();
  }
  if (shape.operand_bytes == sizeof(wire::MaskedSwap8)) {
    const auto swap = segment_at<wire::MaskedSwap8>(segments, 0);
    wqe.swap_mask = swap.swap_mask.host();
    wqe.compare_mask = swap.compare_mask.host();
  }
  segments = segments.subspan(shape.operand_bytes);
  return {};
}

// One segment of address, or three where its bit says so.
Refusal DataPath::take_av(std::span<const std::byte>& segments, DecodedWqe& wqe) {
  if (segments.size() < wire::kCompactAvDs * wire::kDsBytes) return kMalformed;
  wqe.av = {.compact = segment_at<wire::CompactAv>(segments, 0), .extension = {}};
  auto bytes = wire::kCompactAvDs * wire::kDsBytes;
  if ((wqe.av.compact.extension_dctn.host() & wire::kAvExtended) != 0) {
    bytes = wire::kFullAvDs * wire::kDsBytes;
    if (segments.size() < bytes) return kMalformed;
    wqe.av.extension = segment_at<wire::AvExtension>(segments, 1);
  }
  segments = segments.subspan(bytes);
  if (!has_reserved_bits(wqe.av)) return {};
  ++device_.counters.strict_wqe_reserved_bits;
  util::log::once("wqe.av", "address vector with reserved bits set, or with forced loopback, which is not modelled");
  return strict() ? kMalformed : Refusal{};
}

Refusal DataPath::add_data(const Qp& qp, std::span<const std::byte> segments, DecodedWqe& wqe) {
  const bool inbound = awaits_response(wqe.ctrl.opcode());
  std::uint64_t total = 0;
  while (!segments.empty()) {
    const auto data = segment_at<wire::DataSegment>(segments, 0);
    const auto count = data.byte_count.host();
    if ((count & wire::kInlineFlag) != 0) {
      const auto bytes = count & ~wire::kInlineFlag;
      const auto taken = std::size_t{wire::inline_ds(bytes)} * wire::kDsBytes;
      if (inbound || bytes == 0 || taken > segments.size() || wqe.spans != 0 || wqe.is_inline) return kMalformed;
      std::memcpy(wqe.inline_bytes.data(), segments.data() + 4, bytes);
      wqe.is_inline = true;
      total += bytes;
      segments = segments.subspan(taken);
      continue;
    }
    if (wqe.is_inline || wqe.spans == kMaxSpans) return kMalformed;
    const std::uint64_t bytes = count == 0 ? std::uint64_t{1} << 31 : count;
    const Span span = resolve(device_, {.key = data.lkey.host(),
                                        .pdn = qp.config.pdn,
                                        .access = inbound ? kLocalWrite : 0u,
                                        .va = data.addr.host(),
                                        .bytes = bytes});
    if (!span) return kProtection;
    wqe.span[wqe.spans++] = span;
    total += bytes;
    segments = segments.subspan(wire::kDsBytes);
  }
  if (total > kMaxMessage) return {Syndrome::kLocalLength, 0};
  wqe.bytes = static_cast<std::uint32_t>(total);
  return {};
}

}  // namespace marrow::cx7
