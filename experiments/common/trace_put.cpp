// SPDX-License-Identifier: Apache-2.0
// The words of trace_put.h. Bytes are shown as they lie in memory.
#include "experiments/common/trace_put.h"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "marrow/wire/cqe.h"
#include "marrow/wire/doorbell.h"
#include "marrow/wire/wqe.h"

namespace marrow::experiments {
namespace {

std::string hex_segment(const std::byte* at) {
  std::string text;
  for (std::size_t i = 0; i < wire::kDsBytes; ++i) {
    text += fmt::format("{}{:02x}", i > 0 && i % 4 == 0 ? " " : "", static_cast<unsigned>(at[i]));
  }
  return text;
}

std::string fence_name(gda::FenceKind kind) {
  switch (kind) {
    case gda::FenceKind::kNone:
      return "";
    case gda::FenceKind::kGpu:
      return "GPU-scope fence, ";
    case gda::FenceKind::kGpuSequential:
      return "__threadfence(), ";
    case gda::FenceKind::kSystem:
      return "system-scope fence, ";
    case gda::FenceKind::kGpuRelease:
      return "GPU-scope release fence, ";
    case gda::FenceKind::kGpuAcquire:
      return "GPU-scope acquire fence, ";
    case gda::FenceKind::kBlock:
      return "block-scope fence, ";
  }
  return "";
}

const char* store_name(gda::StoreKind kind) {
  switch (kind) {
    case gda::StoreKind::kPlain:
      return "plain";
    case gda::StoreKind::kVolatile:
      return "volatile";
    case gda::StoreKind::kRelaxedSystem:
      return "relaxed";
    case gda::StoreKind::kMmio:
      return "device";
    case gda::StoreKind::kReleaseGpu:
      return "GPU-scope release";
    case gda::StoreKind::kReleaseSystem:
      return "system-scope release";
    case gda::StoreKind::kSequentialSystem:
      return "sequentially consistent";
  }
  return "unknown";
}

}  // namespace

std::string tell_put(std::string_view policy, gda::Payload payload, const Route& route) {
  return fmt::format("{} bytes by policy {}, {}: from 0x{:x} to 0x{:x} under rkey 0x{:x}", route.bytes, policy,
                     payload == gda::Payload::kInline ? "inline" : "by pointer", route.from.addr, route.to.addr,
                     route.to.rkey);
}

std::string tell_slot(const gda::Slot& slot, const gda::Qp& qp) {
  return fmt::format("WQEBB {} of a ring of {} is reserved on QP 0x{:x}", slot.wqebb, qp.sq_wqebbs, qp.qpn);
}

std::string tell_wqe(const gda::Qp& qp, const gda::Slot& slot) {
  constexpr std::array<const char*, 3> kSegments{"ctrl", "remote", "payload"};
  const auto* wqe = qp.sq + (slot.wqebb & qp.sq_mask()) * wire::kWqebbBytes;
  std::string text = "the WQE as it lies in the SQ";
  for (std::size_t k = 0; k < kSegments.size(); ++k) {
    text += fmt::format("\n{:<8} {}", kSegments[k], hex_segment(wqe + k * wire::kDsBytes));
  }
  return text;
}

std::string tell_order(const gda::Recipe& recipe, const gda::QueueDump& dump) {
  wire::be32 dbrec;
  dbrec.raw = dump.dbrec_raw;
  const auto word = wire::doorbell_word(dump.qp.qpn, dump.counters.pi);
  const auto bytes = std::bit_cast<std::array<wire::be32, 2>>(word);  // as they lie in memory
  return fmt::format("{}dbrec = {} ({} store)\n{}doorbell = {:08x} {:08x} ({} store): QPN 0x{:x}, producer index {}",
                     fence_name(recipe.before_dbrec), dbrec.host(), store_name(recipe.dbrec),
                     fence_name(recipe.before_doorbell), bytes[0].host(), bytes[1].host(), store_name(recipe.doorbell),
                     wire::Doorbell::from_word(word).qpn, wire::Doorbell::from_word(word).end());
}

std::string tell_result(const gda::Result& result, const gda::QueueDump& dump) {
  wire::Cqe cqe;
  std::memcpy(&cqe, dump.cqe_words, sizeof cqe);
  return fmt::format("CQE: opcode {}, owner {}, WQEBB {} -> Status {}", cqe.op_own >> 4, cqe.owner(),
                     cqe.wqe_counter.host(), gda::status_name(result.status));
}

}  // namespace marrow::experiments
