// SPDX-License-Identifier: Apache-2.0
// A NIC of one send queue in plain memory, written from the wire formats alone: it shares no code with mini-gda. It
// looks when it is told to, so a test decides what has happened by the time a lane polls. Strict: what hardware might
// let pass is a complaint.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "marrow/gda/handles.h"
#include "marrow/wire/dc.h"

namespace marrow::gda {

class FakeNic {
 public:
  struct Options {
    std::uint32_t sq_wqebbs = 64;
    CqLayout layout = CqLayout::kCollapsed;
    std::uint64_t start = 0;  // first WQEBB index
    std::uint32_t max_inline_bytes = 220;
    DoorbellMapping mapping = DoorbellMapping::kOrdinaryMemory;
    std::uint64_t timeout_ns = 20'000'000;
    std::uint32_t av_ds = 0;   // segments of address in each WQE: a DCI
    bool needs_record = true;  // else a doorbell may come before its record, or alone
  };
  static constexpr std::uint32_t kQpn = 0x1abcd;
  static constexpr std::uint32_t kLkey = 0x111;
  static constexpr std::uint32_t kRkey = 0x222;
  static constexpr std::uint64_t kDcKey = 0x5623ceaf;

  explicit FakeNic(const Options& o)
      : options_(o), sq_(new Wqebb[o.sq_wqebbs]), cq_(new wire::Cqe[o.sq_wqebbs]), pi_(o.start), done_(o.start) {
    std::memset(static_cast<void*>(sq_.get()), 0xa5, std::size_t{o.sq_wqebbs} * sizeof(Wqebb));
    fill_cq(wire::kFreshCqeByte);
    counters_.pi = counters_.ci = o.start;
    begin_sharing(counters_);
    doorbell_ = last_word_ = wire::doorbell_word(kQpn, o.start);
    dbrec_.send = wire::dbrec_value(o.start);
    handle_ = handle();
  }
  FakeNic() : FakeNic(Options{}) {}

  void fill_cq(std::uint8_t byte) {
    std::memset(static_cast<void*>(cq_.get()), byte, std::size_t{options_.sq_wqebbs} * sizeof(wire::Cqe));
  }

  [[nodiscard]] const Qp& qp() const { return handle_; }

  /// The WQE that starts at this WQEBB fails; all behind it are flushed.
  void fail_at(std::uint64_t wqebb, std::uint8_t syndrome, std::uint8_t vendor = 0) {
    fail_at_ = wqebb;
    syndrome_ = syndrome;
    vendor_ = vendor;
  }
  void drop_cqes() { drop_cqes_ = true; }

  /// Looks at the doorbell, then executes at most `limit` WQEs. Returns how many.
  unsigned step(unsigned limit = ~0u) {
    look_at_doorbell();
    unsigned executed = 0;
    for (; executed < limit && done_ != pi_; ++executed) execute_one();
    return executed;
  }

  [[nodiscard]] std::uint64_t pi() const { return pi_; }
  [[nodiscard]] std::uint64_t& register_word() { return doorbell_; }
  [[nodiscard]] const std::vector<std::uint32_t>& immediates() const { return immediates_; }
  /// Of each WQE with an address: the DCT, or that and bit 31 when an extension followed.
  [[nodiscard]] const std::vector<std::uint32_t>& targets() const { return targets_; }
  [[nodiscard]] unsigned cqes_written() const { return cqes_; }
  [[nodiscard]] unsigned nops() const { return nops_; }
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
  [[nodiscard]] QpCounters& counters() { return counters_; }
  [[nodiscard]] wire::QpDbrec& dbrec() { return dbrec_; }

  /// Memory of either side: whatever the test owns.
  template <class T>
  [[nodiscard]] static Local local(T& memory) {
    return {reinterpret_cast<std::uint64_t>(&memory), kLkey};
  }
  template <class T>
  [[nodiscard]] static Remote remote(T& memory) {
    return {reinterpret_cast<std::uint64_t>(&memory), kRkey};
  }

 private:
  struct alignas(64) Wqebb {
    std::byte bytes[64];
  };
  struct Wqe {
    alignas(64) std::byte bytes[16 * wire::kMaxDs];
    template <class T>
    [[nodiscard]] T at(std::uint32_t ds) const {
      T t;
      std::memcpy(&t, bytes + std::size_t{ds} * 16, sizeof t);
      return t;
    }
  };

  [[nodiscard]] Qp handle() {
    Qp qp;
    qp.sq = sq_[0].bytes;
    qp.sq_wqebbs = options_.sq_wqebbs;
    qp.qpn = kQpn;
    qp.dbrec_send = &dbrec_.send;
    qp.doorbell = &doorbell_;
    qp.cq = reinterpret_cast<std::byte*>(cq_.get());
    qp.counters = &counters_;
    qp.timeout_ns = options_.timeout_ns;
    qp.max_inline_bytes = options_.max_inline_bytes;
    while ((1u << qp.log_cqes) < options_.sq_wqebbs) ++qp.log_cqes;
    qp.cq_layout = options_.layout;
    qp.doorbell_mapping = options_.mapping;
    return qp;
  }

  void complain(const std::string& what) { complaints_.push_back(what + " at WQEBB " + std::to_string(done_)); }

  void look_at_doorbell() {
    const auto word = std::atomic_ref(doorbell_).load(std::memory_order_acquire);
    if (word == last_word_) return;
    last_word_ = word;
    const auto doorbell = wire::Doorbell::from_word(word);
    if (doorbell.qpn != kQpn) return complain("doorbell of another QP");
    const auto fresh = static_cast<std::uint16_t>(doorbell.end() - static_cast<std::uint16_t>(pi_));
    const auto dbrec = wire::swap_bytes(std::atomic_ref(dbrec_.send.raw).load(std::memory_order_acquire));
    // A later dbrec is legal: the lane is already announcing more.
    const bool behind = static_cast<std::uint16_t>(dbrec - doorbell.end()) > options_.sq_wqebbs || dbrec > 0xffff;
    if (options_.needs_record && behind) {
      complain("dbrec behind the doorbell");
    }
    if (fresh == 0) return complain("doorbell without new work");
    pi_ += fresh;
    if (pi_ - done_ > options_.sq_wqebbs) complain("more WQEBBs posted than the ring has");
  }

  void execute_one() {
    Wqe wqe;
    const auto mask = options_.sq_wqebbs - 1;
    std::memcpy(wqe.bytes, sq_[done_ & mask].bytes, 64);
    const auto ctrl = wqe.at<wire::CtrlSegment>(0);
    const auto blocks = wire::wqebbs_of(ctrl.ds());
    for (std::uint32_t b = 1; b < blocks; ++b) std::memcpy(wqe.bytes + 64 * b, sq_[(done_ + b) & mask].bytes, 64);
    if (ctrl.index() != static_cast<std::uint16_t>(done_)) complain("wrong index");
    if (ctrl.qpn() != kQpn) complain("wrong QPN");
    if (ctrl.ds() == 0 || done_ + blocks > pi_) {
      complain("WQE of impossible size");
      done_ = pi_;
      return;
    }
    if (done_ == fail_at_) failed_ = true;
    if (!failed_) perform(wqe, ctrl);
    if (failed_ || ctrl.completion() == wire::Completion::kAlways) write_cqe(ctrl, done_ == fail_at_);
    done_ += blocks;
  }

  void perform(const Wqe& wqe, const wire::CtrlSegment& ctrl) {
    if (ctrl.opcode() == wire::Opcode::kNop) return static_cast<void>(++nops_);
    const std::uint32_t remote_ds = 1 + options_.av_ds;
    if (options_.av_ds != 0) take_target(wqe);
    const auto to = wqe.at<wire::RemoteSegment>(remote_ds);
    if (to.rkey.host() != kRkey) return fail_at(done_, 0x13, 0x88), static_cast<void>(failed_ = true);
    auto* remote = reinterpret_cast<std::byte*>(to.addr.host());
    if (ctrl.opcode() == wire::Opcode::kFetchAdd || ctrl.opcode() == wire::Opcode::kCompareSwap) {
      return atomic(wqe, ctrl.opcode(), remote);
    }
    if (ctrl.opcode() == wire::Opcode::kMaskedFetchAdd || ctrl.opcode() == wire::Opcode::kMaskedCompareSwap) {
      return masked(wqe, ctrl, remote);
    }
    if (ctrl.opcode() == wire::Opcode::kWriteImm) immediates_.push_back(ctrl.imm.host());
    if (ctrl.ds() == remote_ds + 1) return;
    const auto data = wqe.at<wire::DataSegment>(remote_ds + 1);
    const auto count = data.byte_count.host();
    if ((count & wire::kInlineFlag) != 0) {
      const auto bytes = count & ~wire::kInlineFlag;
      if (wire::inline_ds(bytes) + remote_ds + 1 != ctrl.ds()) complain("inline length and DS disagree");
      std::memcpy(remote, wqe.bytes + 36 + 16 * options_.av_ds, bytes);
      return;
    }
    if (data.lkey.host() != kLkey) complain("wrong lkey");
    auto* local = reinterpret_cast<std::byte*>(data.addr.host());
    const bool read = ctrl.opcode() == wire::Opcode::kRead;
    std::memcpy(read ? local : remote, read ? remote : local, count);
  }

  void atomic(const Wqe& wqe, wire::Opcode opcode, std::byte* remote) {
    const auto operand = wqe.at<wire::AtomicSegment>(2 + options_.av_ds);
    const auto result = wqe.at<wire::DataSegment>(3 + options_.av_ds);
    std::uint64_t old;
    std::memcpy(&old, remote, 8);
    std::uint64_t value = old + operand.swap_add.host();
    if (opcode == wire::Opcode::kCompareSwap) value = old == operand.compare.host() ? operand.swap_add.host() : old;
    std::memcpy(remote, &value, 8);
    std::memcpy(reinterpret_cast<void*>(result.addr.host()), &old, 8);
  }

  void take_target(const Wqe& wqe) {
    const auto av = wqe.at<wire::CompactAv>(1);
    if ((av.extension_dctn.host() >> 31 != 0) != (options_.av_ds == 3)) complain("address of the wrong form");
    if (av.key.host() != kDcKey) complain("wrong DC key");
    targets_.push_back(av.extension_dctn.host());
  }

  /// 4 or 8 bytes; the add stops its carry at each bit of the boundary.
  void masked(const Wqe& wqe, const wire::CtrlSegment& ctrl, std::byte* remote) {
    const std::uint32_t operand = 2 + options_.av_ds;
    const bool wide = ctrl.opmod() == 0x09;
    if (!wide && ctrl.opmod() != 0x08) complain("modifier of no masked atomic");
    const bool add = ctrl.opcode() == wire::Opcode::kMaskedFetchAdd;
    std::uint64_t v[4];  // add, boundary; or swap, compare, swap mask, compare mask
    for (std::uint32_t i = 0; i < 4; ++i) {
      wire::be64 b8;
      wire::be32 b4;
      std::memcpy(&b8, wqe.bytes + 16 * operand + 8 * i, 8);
      std::memcpy(&b4, wqe.bytes + 16 * operand + 4 * i, 4);
      v[i] = wide ? b8.host() : b4.host();
    }
    std::uint64_t old = 0;
    const std::size_t bytes = wide ? 8 : 4;
    std::memcpy(&old, remote, bytes);
    std::uint64_t value = old;
    if (add) {
      value = 0;
      for (std::uint64_t bit = 1, carry = 0, n = 0; n < bytes * 8; ++n, bit <<= 1) {
        const auto sum = ((old & bit) != 0) + ((v[0] & bit) != 0) + carry;
        if ((sum & 1) != 0) value |= bit;
        carry = (v[1] & bit) != 0 ? 0 : sum >> 1;
      }
    } else if ((old & v[3]) == (v[1] & v[3])) {
      value = (old & ~v[2]) | (v[0] & v[2]);
    }
    std::memcpy(remote, &value, bytes);
    const auto result = wqe.at<wire::DataSegment>(operand + (wide && !add ? 2 : 1));
    if (result.byte_count.host() != bytes) complain("result of the wrong length");
    const auto swapped = wire::swap_bytes(static_cast<std::uint32_t>(old));
    std::memcpy(reinterpret_cast<void*>(result.addr.host()), wide ? static_cast<const void*>(&old) : &swapped, bytes);
  }

  /// 60 bytes, then the word with counter and owner.
  void write_cqe(const wire::CtrlSegment& ctrl, bool root_cause) {
    if (drop_cqes_) return;
    const bool ring = options_.layout == CqLayout::kRing;
    const auto opcode = failed_ ? wire::CqeOpcode::kRequesterError : wire::CqeOpcode::kRequester;
    wire::Cqe cqe{};
    if (failed_) cqe.syndrome = root_cause ? static_cast<wire::Syndrome>(syndrome_) : wire::Syndrome::kFlushed;
    if (failed_) cqe.vendor_syndrome = root_cause ? vendor_ : 0xf9;
    cqe.opcode_qpn = wire::be32(static_cast<std::uint32_t>(ctrl.opcode()) << 24 | kQpn);
    cqe.wqe_counter = wire::be16(static_cast<std::uint16_t>(done_));
    cqe.op_own = wire::op_own_byte(opcode, ring ? cqes_ / options_.sq_wqebbs : 0);
    std::uint32_t words[16];
    std::memcpy(words, &cqe, sizeof words);
    auto* entry = reinterpret_cast<std::uint32_t*>(&cq_[ring ? cqes_ % options_.sq_wqebbs : 0]);
    for (int i = 0; i < 15; ++i) std::atomic_ref(entry[i]).store(words[i], std::memory_order_relaxed);
    std::atomic_ref(entry[15]).store(words[15], std::memory_order_release);
    ++cqes_;
  }

  Options options_;
  std::unique_ptr<Wqebb[]> sq_;
  std::unique_ptr<wire::Cqe[]> cq_;
  wire::QpDbrec dbrec_{};
  std::uint64_t doorbell_ = 0;
  std::uint64_t last_word_ = 0;
  QpCounters counters_;
  Qp handle_;
  std::uint64_t pi_;
  std::uint64_t done_;
  std::uint64_t fail_at_ = ~0ull;
  std::uint8_t syndrome_ = 0;
  std::uint8_t vendor_ = 0;
  bool failed_ = false;
  bool drop_cqes_ = false;
  unsigned cqes_ = 0;
  unsigned nops_ = 0;
  std::vector<std::string> complaints_;
  std::vector<std::uint32_t> immediates_;
  std::vector<std::uint32_t> targets_;
};

}  // namespace marrow::gda
