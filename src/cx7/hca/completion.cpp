// SPDX-License-Identifier: Apache-2.0
// Second half of stop 8 of 9: writes CQEs, 60 bytes, then the word with the owner bit. Overrun, collapsed CQs, events.
// Facts: CQE layout [dv]; collapsed and overrun-ignore [prm: CQC]; arm word [dv: mlx5_arm_cq];
// that an event tells of new CQEs only [prm: CQC, last_notified_index].
#include <utility>

#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"

namespace marrow::cx7 {
namespace {

wire::Cqe compose(const Cq& cq, const CqeContent& content, Time now) {
  wire::Cqe cqe{};
  cqe.user_index = wire::be32(content.user_index & 0xffffff);
  cqe.imm.raw = content.imm;
  cqe.byte_count = wire::be32(content.byte_count);
  cqe.opcode_qpn = wire::be32(static_cast<std::uint32_t>(content.wqe_opcode) << 24 | content.qpn);
  cqe.wqe_counter = wire::be16(content.wqe_counter);
  cqe.op_own = wire::op_own_byte(content.opcode, cq.pi >> cq.log_entries);
  if (content.solicited) cqe.op_own |= 2;
  cqe.slid = wire::be16(content.source_lid);
  cqe.flags_rqpn =
      wire::be32(std::uint32_t{content.grh} << 28 | std::uint32_t{content.service_level} << 24 | content.source_qpn);
  if (cqe.is_error()) {
    cqe.vendor_syndrome = content.vendor;
    cqe.syndrome = content.syndrome;
  } else {
    const wire::be64 timestamp(static_cast<std::uint64_t>(now.count()));
    std::memcpy(reinterpret_cast<std::byte*>(&cqe) + 48, &timestamp, sizeof timestamp);
  }
  return cqe;
}

// Consumer index from the application's record, read only when the CQ looks full by the last known one.
bool is_full(Cq& cq) {
  const std::uint64_t entries = std::uint64_t{1} << cq.log_entries;
  if (((cq.pi - cq.known_ci) & 0xffffff) < entries) return false;
  std::uint32_t word = 0;
  if (cq.dbrec == nullptr || !dma::load32(&cq.dbrec->consumer, word)) return true;
  cq.known_ci = wire::swap_bytes(word) & 0xffffff;
  return ((cq.pi - cq.known_ci) & 0xffffff) >= entries;
}

}  // namespace

void DataPath::count_error_cqe(const CqeContent& content) {
  auto& counters = device_.counters;
  const bool flushed = content.syndrome == wire::Syndrome::kFlushed;
  const bool send = content.opcode == wire::CqeOpcode::kRequesterError;
  ++(send ? counters.send_error_cqes : counters.receive_error_cqes);
  if (flushed) ++(send ? counters.send_flush_cqes : counters.receive_flush_cqes);
}

void DataPath::put_cqe(Cq& cq, const CqeContent& content) {
  if (cq.dead) return;
  if (!cq.overrun_ignore && is_full(cq)) {
    cq.dead = true;
    ++device_.counters.cq_overruns;
    if (cq.events != nullptr) cq.events->async_event(AsyncEvent::kCqError);
    return;
  }
  const auto cqe = compose(cq, content, now_);
  const auto slot = cq.collapsed ? 0 : cq.pi & ((std::uint64_t{1} << cq.log_entries) - 1);
  std::byte* const entry = cq.entries + slot * cq.entry_bytes + (cq.entry_bytes - wire::kCqeBytes);
  std::uint32_t tail = 0;
  std::memcpy(&tail, reinterpret_cast<const std::byte*>(&cqe) + 60, sizeof tail);
  if (!dma::copy(entry, &cqe, 60) || !dma::store32(entry + 60, tail)) {
    cq.dead = true;  // its memory is gone: nobody is left to read it
    ++device_.counters.local_protection_errors;
    return;
  }
  ++cq.pi;
  ++device_.counters.cqes_written;
  if (cqe.is_error()) [[unlikely]]
    count_error_cqe(content);
  if (is_tracing()) [[unlikely]]
    add_to_trace({.kind = TraceEvent::Kind::kCqe,
                  .qpn = content.qpn,
                  .a = cq.cqn,
                  .b = content.wqe_counter,
                  .c = std::uint64_t{cqe.op_own} << 8 | static_cast<std::uint8_t>(content.syndrome)});
  if (cq.has_channel) {
    cq.solicited_since_arm |= content.solicited || cqe.is_error();
    fire_if_armed(cq);
  }
}

bool DataPath::resize_cq(Cq& cq, const CqMemory& to) {
  write_held(&cq);
  if (cq.dead || cq.collapsed || is_full(cq)) return false;
  std::uint32_t word = 0;
  if (!dma::load32(&cq.dbrec->consumer, word)) return false;
  const auto unread = (cq.pi - wire::swap_bytes(word)) & 0xffffff;
  if (unread + 1 > std::uint64_t{1} << to.log_entries) return false;
  const bool has_channel = std::exchange(cq.has_channel, false);
  const bool told = cq.notified == (cq.pi & 0xffffff);
  put_cqe(cq, {.opcode = wire::CqeOpcode::kResize});
  cq.has_channel = has_channel;
  if (told) cq.notified = static_cast<std::uint32_t>(cq.pi & 0xffffff);  // this one is no news
  cq.entries = to.entries;
  cq.log_entries = to.log_entries;
  cq.entry_bytes = to.entry_bytes;
  return !cq.dead;
}

void DataPath::fire_if_armed(Cq& cq) {
  if (!cq.has_channel || cq.dbrec == nullptr || cq.dead) return;
  std::uint32_t word = 0;
  if (!dma::load32(&cq.dbrec->arm, word)) return;
  const std::uint32_t arm = wire::swap_bytes(word);
  const auto sn = static_cast<std::uint8_t>((arm >> 28) & 3);
  if (arm == kArmPoison || sn == cq.fired_sn) return;
  const auto pi = static_cast<std::uint32_t>(cq.pi & 0xffffff);
  if (pi == (arm & 0xffffff) || pi == cq.notified) return;  // nothing since the application looked, or was told
  constexpr std::uint32_t kSolicitedOnly = 1u << 24;
  if ((arm & kSolicitedOnly) != 0 && !cq.solicited_since_arm) return;
  cq.fired_sn = sn;
  cq.notified = pi;
  cq.solicited_since_arm = false;
  ++device_.counters.completion_events;
  if (cq.events != nullptr) cq.events->completion_event(cq);
}

}  // namespace marrow::cx7
