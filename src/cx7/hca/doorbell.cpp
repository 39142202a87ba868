// SPDX-License-Identifier: Apache-2.0
// Stop 5 of 9 (docs/one-message.md). In: a value in a UAR register. Out: a QP with a new producer index.
// A register is memory here, and memory keeps only the last value: where QPs share one, whoever rang before was
// overwritten. Each ringer wrote its record before its doorbell, so one value seen is reason to read the records of
// every QP of that page, but for those with a register of their own: a GPU's record may well be ahead of its WQEs.
// Facts: both doorbell forms [obs]; record before doorbell [dv]; which page a QP may ring [guess].
#include <algorithm>
#include <array>
#include <atomic>

#include "cx7/fabric/device_faults.h"
#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

// A poster may lose its core between record and doorbell.
constexpr Time kUnrungPatience = std::chrono::milliseconds(500);

// Takes the value out, so that the same value rung twice is seen twice. `at_once` gets the value that stands there
// before anything else is done.
template <class Action>
std::uint64_t take_register(std::byte* at, Action at_once) {
  auto& word = *reinterpret_cast<std::uint64_t*>(at);
  const std::atomic_ref<std::uint64_t> reg(word);
  const std::uint64_t value = reg.load(std::memory_order_acquire);
  if (value == 0) return 0;
  at_once(value);
  return reg.exchange(0, std::memory_order_acquire);
}
std::uint64_t take_register(std::byte* at) {
  return take_register(at, [](std::uint64_t) {});
}

bool recorded_index(const Qp& qp, std::uint16_t& index) {
  std::uint32_t word = 0;
  if (!dma::load32(&qp.config.dbrec->send, word)) return false;
  index = static_cast<std::uint16_t>(wire::swap_bytes(word));
  return true;
}

// WQEs of [from, to) whose bytes are not there yet. All are loaded before any is looked at, the youngest first: bytes
// that are late are late by tens of nanoseconds.
std::uint32_t not_there_yet(const Qp& qp, std::uint32_t from, std::uint32_t to) {
  struct Words {
    std::uint32_t opcode_index = 0;
    std::uint32_t qpn_ds = 0;
  };
  constexpr std::uint32_t kMost = 64;
  std::array<Words, kMost> words;
  const std::uint32_t n = std::min(to - from, kMost);
  for (std::uint32_t i = n; i-- > 0;) {
    const std::byte* const ctrl = qp.config.sq.at(from + i);
    if (!dma::load32(ctrl, words[i].opcode_index) || !dma::load32(ctrl + 4, words[i].qpn_ds)) return 0;
  }
  std::uint32_t late = 0;
  for (std::uint32_t i = 0; i < n;) {
    const std::uint32_t index = wire::swap_bytes(words[i].opcode_index) >> 8 & 0xffff;
    const std::uint32_t qpn_ds = wire::swap_bytes(words[i].qpn_ds);
    const bool there = index == ((from + i) & 0xffff) && qpn_ds >> 8 == qp.config.qpn;
    late += there ? 0 : 1;
    i += there ? std::max(wire::wqebbs_of(qpn_ds & 0x3f), 1u) : 1;
  }
  return late;
}

}  // namespace

// Where a fault has doorbells looked at late: true while those of this page wait.
bool DataPath::is_overlooked(Uar& uar) {
  if (now_ < uar.overlooked_until) return true;
  bool rung = false;
  for (std::uint32_t k = 0; k < wire::kUarDoorbells; ++k) {
    auto& word = *reinterpret_cast<std::uint64_t*>(uar.registers + wire::kUarBlueFlame + k * wire::kUarDoorbellStride);
    rung |= std::atomic_ref(word).load(std::memory_order_relaxed) != 0;
  }
  if (rung) uar.overlooked_until = now_ + engine_.fabric_.device_faults()->overlooks_doorbell();
  return now_ < uar.overlooked_until;
}

bool DataPath::poll_doorbells() {
  bool moved = false;
  for (const auto& uar : device_.uars) {
    if (uar->gpu_qps != 0) continue;
    if (engine_.fabric_.device_faults() != nullptr && is_overlooked(*uar)) [[unlikely]] {
      moved = true;
      continue;
    }
    std::array<Rung, wire::kUarDoorbells> rung;
    std::size_t count = 0;
    for (std::uint32_t k = 0; k < wire::kUarDoorbells; ++k) {
      std::byte* const at = uar->registers + wire::kUarBlueFlame + k * wire::kUarDoorbellStride;
      const auto word = strict() ? take_register(at) : take_register(at, [&](std::uint64_t value) {
        if (Qp* qp = device_.qps.find(wire::Doorbell::from_word(value).qpn)) look_for_late(*qp, value);
      });
      if (word != 0) rung[count++] = {k / 2, wire::Doorbell::from_word(word)};
    }
    if (count != 0) take_page(*uar, {rung.data(), count});
    if (take_register(uar->registers + wire::kUarCqArm) != 0) {
      for (Cq* cq : device_.channel_cqs) fire_if_armed(*cq);
    }
    moved |= count != 0;
  }
  return moved;
}

// Lenient: counts announced WQEs whose bytes are not there. A NIC may fetch at this very moment; this engine takes a
// little longer, and would rarely notice.
void DataPath::look_for_late(Qp& qp, std::uint64_t doorbell) {
  auto& requester = qp.requester;
  const auto advance = distance16(wire::Doorbell::from_word(doorbell).end(), requester.rung);
  const std::uint32_t end = requester.rung + static_cast<std::uint32_t>(advance);
  if (advance <= 0 || end - requester.done > qp.config.sq.wqebbs) return;
  // What its record had announced before is executed already, and its place may hold a later WQE.
  std::uint32_t from = requester.rung;
  for (const std::uint32_t known : {requester.next, requester.looked}) {
    if (static_cast<std::int32_t>(known - from) > 0) from = known;
  }
  if (static_cast<std::int32_t>(end - from) <= 0) return;
  device_.counters.strict_stale_wqe_index += not_there_yet(qp, from, end);
  requester.looked = end;
}

void DataPath::take_page(Uar& uar, std::span<const Rung> rung) {
  device_.counters.doorbells += rung.size();
  for (std::size_t i = 0; i < rung.size(); ++i) {
    const auto& doorbell = rung[i].doorbell;
    // The halves of a register carry no order: an older value of the same QP is not a second ring.
    bool superseded = false;
    for (std::size_t k = 0; k < rung.size(); ++k) {
      const auto& other = rung[k].doorbell;
      superseded |= k != i && other.qpn == doorbell.qpn && distance16(other.end(), doorbell.end()) > 0;
    }
    if (!superseded) ring(uar, rung[i]);
  }
  for (Qp* qp : uar.qps) {
    const auto at = qp->requester.rings_at;
    if (at == Requester::kNowhere || (uar.shared >> at & 1) != 0) accept(*qp, /*named=*/false);
  }
}

void DataPath::ring(Uar& uar, const Rung& rung) {
  const auto& doorbell = rung.doorbell;
  Qp* qp = device_.qps.find(doorbell.qpn);
  if (qp == nullptr) {
    ++device_.counters.strict_doorbell_unknown_qp;
    util::log::once("doorbell.qpn", "doorbell for QP {:#x}, which does not exist", doorbell.qpn);
    return;
  }
  if (qp->config.uar_page != uar.page) {
    ++device_.counters.strict_doorbell_wrong_page;
    util::log::once("doorbell.page", "doorbell for QP {:#x} on UAR page {}, its own is {}", doorbell.qpn, uar.page,
                    qp->config.uar_page);
    if (strict()) return;
  }
  auto& requester = qp->requester;
  if (uar.ringers[rung.at] != 0 && uar.ringers[rung.at] != doorbell.qpn) uar.shared |= 1u << rung.at;
  uar.ringers[rung.at] = doorbell.qpn;
  requester.rings_at = rung.at;
  const auto advance = distance16(doorbell.end(), requester.rung);
  if (advance < 0) return;  // the older half of a register, looked at later
  if (advance == 0) {
    ++device_.counters.strict_doorbell_without_work;
    util::log::once("doorbell.work", "doorbell for QP {:#x} announces index {}, which was rung before", doorbell.qpn,
                    doorbell.end());
    return;
  }
  if (!strict()) look_for_late(*qp, doorbell.to_word());  // when it rang once more meanwhile
  requester.rung += static_cast<std::uint32_t>(advance);
  accept(*qp, /*named=*/true);
}

// `named`: the doorbell said this QP, and its index binds. Otherwise only the record speaks: its doorbell was
// overwritten.
void DataPath::accept(Qp& qp, bool named) {
  auto& requester = qp.requester;
  std::uint16_t recorded = 0;
  if (qp.config.sq.wqebbs == 0 || !recorded_index(qp, recorded)) return;
  if (named) {
    if (is_tracing()) [[unlikely]]
      add_to_trace({.kind = TraceEvent::Kind::kDoorbell,
                    .qpn = qp.config.qpn,
                    .a = qp.config.qpn,
                    .b = requester.rung,
                    .c = recorded});
    if (distance16(requester.rung, recorded) > 0) {
      ++device_.counters.strict_doorbell_ahead_of_dbrec;
      util::log::once("doorbell.ahead", "doorbell of QP {:#x} says {}, its record still {}", qp.config.qpn,
                      requester.rung & 0xffff, recorded);
    }
  }
  auto end = requester.posted + static_cast<std::uint32_t>(distance16(recorded, requester.posted));
  if (named && (!strict() || static_cast<std::int32_t>(requester.rung - end) < 0)) end = requester.rung;
  if (static_cast<std::int32_t>(end - requester.posted) <= 0) return;
  requester.posted = end;
  requester.moved_unrung_since = Time{0};
  if (requester.posted - requester.done > qp.config.sq.wqebbs) {
    ++device_.counters.strict_sq_overflow;
    util::log::once("sq.overflow", "QP {:#x}: {} WQEBBs posted and not retired, the SQ has {}", qp.config.qpn,
                    requester.posted - requester.done, qp.config.sq.wqebbs);
  }
  mark_ready(qp);
}

void DataPath::scan_record(Qp& qp) {
  if (qp.state == QpState::kError) flush_recv(qp);
  if (qp.state == QpState::kError || qp.state == QpState::kSqer) return flush_send(qp);
  auto& requester = qp.requester;
  std::uint16_t recorded = 0;
  if (qp.config.sq.wqebbs == 0 || !recorded_index(qp, recorded)) return;
  if (distance16(recorded, requester.posted) <= 0) {
    requester.moved_unrung_since = Time{0};
    return;
  }
  if (requester.moved_unrung_since == Time{0}) requester.moved_unrung_since = now_;
  if (now_ - requester.moved_unrung_since < kUnrungPatience) return;
  if (!requester.unrung_reported) {
    requester.unrung_reported = true;
    ++device_.counters.strict_dbrec_never_rung;
    util::log::once("dbrec.unrung", "QP {:#x}: record moved to {} and no doorbell came; {}", qp.config.qpn, recorded,
                    strict() ? "nothing is executed" : "executed all the same (lenient)");
  }
  if (!strict()) accept(qp, /*named=*/false);
}

}  // namespace marrow::cx7
