// SPDX-License-Identifier: Apache-2.0
// A DCI on device 0 and DCTs on device 1: what is refused, what arrives, and that a change of destination waits.
#include "marrow/wire/dc.h"

#include <gmock/gmock.h>

#include <array>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

using wire::Syndrome;
constexpr std::uint64_t kKey = 0x0123456789abcdef;

// The LID is the device's number plus one.
std::uint8_t by_lid(const wire::AddressVector& av) {
  const auto lid = av.compact.rlid.host();
  return lid == 1 || lid == 2 ? static_cast<std::uint8_t>(lid - 1) : kNoDevice;
}

template <std::size_t Ds>
struct Write {
  wire::CtrlSegment ctrl;
  std::array<std::byte, Ds * wire::kDsBytes> av;
  wire::RemoteSegment remote;
  wire::DataSegment data;
};

/// The two devices, one DCI and two DCTs.
struct DcNic {
  TwoSides nic;
  std::uint32_t first = add_dct(kKey);
  std::uint32_t second = add_dct(kKey);

  DcNic() {
    std::memset(nic.a.buffer.data, 0xab, kBufferBytes);
    make_dci();
  }

  void make_dci() {
    const Engine::Lock lock(nic.engine);
    auto config = nic.a.qp->config;
    nic.engine.remove_qp(nic.a.device, *nic.a.qp);
    config.qpn = nic.a.device.qps.next_number();
    config.service = ServiceType::kDci;
    config.routing = {.device_of = by_lid};
    nic.a.qp = &nic.engine.add_qp(nic.a.device, config);
    auto attributes = kUsual;
    attributes.remote_device = kNoDevice;
    attributes.retry_count = 1;
    attributes.send_psn = 0xfffffe;  // wraps soon
    for (const auto to : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
      ASSERT_EQ(nic.engine.modify_qp(nic.a.device, *nic.a.qp, to, attributes), Engine::Modify::kOk);
    }
  }
  std::uint32_t add_dct(std::uint64_t key, std::uint32_t access = kUsual.access) {
    const Engine::Lock lock(nic.engine);
    auto attributes = kUsual;
    attributes.access = access;
    const auto dctn = nic.b.device.qps.next_number();
    nic.engine.add_dct(
        nic.b.device,
        {.qpn = dctn, .service = ServiceType::kDct, .pdn = nic.b.pdn, .uar_page = kNoUarPage, .recv_cq = nic.b.rcq},
        attributes, key);
    return dctn;
  }
  Qp& dct(std::uint32_t dctn) { return *nic.b.device.qps.find(dctn); }
  static wire::AddressVector to(std::uint32_t dctn, std::uint64_t key = kKey) {
    return wire::infiniband_av({.key = key, .dctn = dctn, .lid = 2});
  }

  /// One write of `bytes` from the start of a's buffer to `offset` in b's, with one or three segments of address.
  template <std::size_t Ds = wire::kCompactAvDs>
  void put(const wire::AddressVector& av, std::size_t offset, std::uint32_t bytes = 8,
           wire::Completion completion = wire::Completion::kAlways) {
    auto whole = av;
    whole.compact = wire::av_head(av, Ds);
    Write<Ds> wqe{wire::ctrl_segment(nic.a.next(completion), wire::Opcode::kWrite, 3 + Ds),
                  {},
                  wire::remote_segment(nic.b.remote(offset)),
                  wire::data_segment(nic.a.local(), bytes)};
    std::memcpy(wqe.av.data(), &whole, wqe.av.size());
    nic.a.put(wqe);
  }
  /// Adds `value` at the start of b's buffer; the old value comes to the start of a's.
  void put_add(std::uint32_t dctn, std::uint64_t value) {
    struct Atomic {
      wire::CtrlSegment ctrl;
      wire::CompactAv av;
      wire::RemoteSegment remote;
      wire::AtomicSegment atomic;
      wire::DataSegment data;
    };
    nic.a.put(Atomic{wire::ctrl_segment(nic.a.next(), wire::Opcode::kFetchAdd, 5),
                     to(dctn).compact,
                     wire::remote_segment(nic.b.remote()),
                     {wire::be64(value), wire::be64(0)},
                     wire::data_segment(nic.a.local(), 8)});
  }
  Syndrome next() {
    const auto* cqe = nic.a.poll();
    EXPECT_NE(cqe, nullptr);
    return cqe != nullptr && cqe->is_error() ? cqe->syndrome : Syndrome::kNone;
  }
  Syndrome run() {
    nic.a.announce();
    nic.run();
    return next();
  }
  Syndrome run_out_of_retries() {
    nic.a.announce();
    nic.run_for(std::chrono::seconds(2));
    return next();
  }
  bool arrived(std::size_t offset, std::uint32_t bytes) {
    return std::memcmp(nic.b.buffer.data + offset, nic.a.buffer.data, bytes) == 0;
  }
};

class Dc : public testing::Test, protected DcNic {};

TEST_F(Dc, WrongAccessKeyLooksLikeSilence) {
  put(to(first, kKey ^ 1), 0);
  EXPECT_EQ(run_out_of_retries(), Syndrome::kRetryExceeded);
  EXPECT_FALSE(arrived(0, 8));
  EXPECT_EQ(nic.a.qp->state, QpState::kError);
  EXPECT_GE(dct(first).dct->violations, 1u);
  EXPECT_GE(nic.b.device.counters.dc_key_violations, 1u);
}

TEST_F(Dc, NoSuchDct) {
  put(to(first + 100), 0);
  EXPECT_EQ(run_out_of_retries(), Syndrome::kRetryExceeded);
}

TEST_F(Dc, NobodysLid) {
  put(wire::infiniband_av({.key = kKey, .dctn = first, .lid = 9}), 0);
  EXPECT_EQ(run_out_of_retries(), Syndrome::kRetryExceeded);
}

TEST_F(Dc, DrainedDct) {
  {
    const Engine::Lock lock(nic.engine);
    nic.engine.drain_dct(dct(first));
  }
  put(to(first), 0);
  EXPECT_EQ(run_out_of_retries(), Syndrome::kRetryExceeded);
}

TEST_F(Dc, WrongRkeyEndsTheDciAndNotTheDct) {
  put(to(first), 0);
  nic.b.mkey->key ^= 1;
  EXPECT_EQ(run(), Syndrome::kRemoteAccess);
  EXPECT_EQ(nic.a.qp->state, QpState::kError);
  EXPECT_EQ(dct(first).state, QpState::kRtr);
}

TEST_F(Dc, DctWithoutRemoteWrite) {
  put(to(add_dct(kKey, kRemoteRead)), 0);
  EXPECT_EQ(run(), Syndrome::kRemoteInvalidRequest);
  EXPECT_FALSE(arrived(0, 8));
}

TEST_F(Dc, KeyOfAnotherProtectionDomain) {
  nic.b.mkey->pdn ^= 1;
  put(to(first), 0);
  EXPECT_EQ(run(), Syndrome::kRemoteAccess);
}

TEST_F(Dc, WriteWithImmediateHasNoReceive) {
  put(to(first), 0);
  auto* const ctrl = reinterpret_cast<wire::CtrlSegment*>(nic.a.sq.data);
  *ctrl = wire::ctrl_segment({.qpn = nic.a.qp->config.qpn, .index = 0, .completion = wire::Completion::kAlways},
                             wire::Opcode::kWriteImm, 4);
  nic.a.announce();
  nic.run_for(std::chrono::milliseconds(5));
  EXPECT_EQ(nic.a.poll(), nullptr) << "it waits for a receiver that is not ready";
  EXPECT_GE(nic.b.device.counters.rnr_naks_sent, 1u);
}

TEST_F(Dc, ReservedBitsOfTheAddress) {
  struct Row {
    std::size_t byte;  // of the WQE
    std::byte bits;
  };
  for (const auto& row : {Row{24, std::byte{0x40}}, Row{29, std::byte{0x80}}}) {
    DcNic other;
    other.put(to(other.first), 0);
    other.nic.a.sq.data[row.byte] |= row.bits;
    EXPECT_EQ(other.run(), Syndrome::kLocalQpOperation) << row.byte;
    EXPECT_EQ(other.nic.a.device.counters.strict_wqe_reserved_bits, 1u) << row.byte;
  }
}

TEST_F(Dc, AddressCutOff) {
  nic.a.put(wire::ctrl_segment(nic.a.next(), wire::Opcode::kWrite, 1));
  EXPECT_EQ(run(), Syndrome::kLocalQpOperation);
}

// An RC request that finds a DCT, or a DC packet that finds an RC QP, is nobody's.
TEST_F(Dc, TransportsDoNotMix) {
  nic.b.qp->responder.expected_psn = 0xfffffe;  // the very packet that it waits for
  put(to(nic.b.qp->config.qpn), 0);
  EXPECT_EQ(run_out_of_retries(), Syndrome::kRetryExceeded);
  EXPECT_FALSE(arrived(0, 8));
  EXPECT_EQ(nic.b.qp->state, QpState::kRts);
}

TEST_F(Dc, CompactAndFullAddressesArrive) {
  put(to(first), 0);
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_TRUE(arrived(0, 8));
  put<wire::kFullAvDs>(to(second), 64, 4096);
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_TRUE(arrived(64, 4096));
}

// Bytes by hand: one write of 8 bytes inline, as a person would copy it from the manual.
TEST_F(Dc, BytesByHand) {
  const auto qpn = nic.a.qp->config.qpn;
  const auto byte = [](std::uint64_t value, int shift) { return static_cast<std::uint8_t>(value >> shift); };
  const auto va = nic.b.remote().addr;
  const auto rkey = nic.b.remote().rkey;
  const std::uint8_t wqe[64] = {0,
                                0,
                                0,
                                0x08,
                                byte(qpn, 16),
                                byte(qpn, 8),
                                byte(qpn, 0),
                                4,
                                0,
                                0,
                                0,
                                0x08,
                                0,
                                0,
                                0,
                                0,  // control
                                0x01,
                                0x23,
                                0x45,
                                0x67,
                                0x89,
                                0xab,
                                0xcd,
                                0xef,
                                0,
                                byte(first, 16),
                                byte(first, 8),
                                byte(first, 0),  // address
                                0,
                                0,
                                0,
                                2,  //
                                byte(va, 56),
                                byte(va, 48),
                                byte(va, 40),
                                byte(va, 32),
                                byte(va, 24),
                                byte(va, 16),
                                byte(va, 8),
                                byte(va, 0),
                                byte(rkey, 24),
                                byte(rkey, 16),
                                byte(rkey, 8),
                                byte(rkey, 0),
                                0,
                                0,
                                0,
                                0,  // remote
                                0x80,
                                0,
                                0,
                                8,
                                'm',
                                'a',
                                'r',
                                'r',
                                'o',
                                'w',
                                '!',
                                '!',
                                0,
                                0,
                                0,
                                0};  // inline
  nic.a.put(wqe);
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_EQ(std::memcmp(nic.b.buffer.data, "marrow!!", 8), 0);
}

TEST_F(Dc, ReadsAndAtomicsReturn) {
  std::uint64_t value = 40;
  std::memcpy(nic.b.buffer.data, &value, sizeof value);
  put_add(first, 2);
  EXPECT_EQ(run(), Syndrome::kNone);
  std::memcpy(&value, nic.a.buffer.data, sizeof value);
  EXPECT_EQ(value, 40u);
  std::memcpy(&value, nic.b.buffer.data, sizeof value);
  EXPECT_EQ(value, 42u);

  std::memset(nic.b.buffer.data, 0xcd, 8192);
  Write<1> read{wire::ctrl_segment(nic.a.next(), wire::Opcode::kRead, 4),
                {},
                wire::remote_segment(nic.b.remote()),
                wire::data_segment(nic.a.local(), 8192)};
  const auto av = to(second).compact;
  std::memcpy(read.av.data(), &av, sizeof av);
  nic.a.put(read);
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_TRUE(arrived(0, 8192));
}

// The same destination again and again is one connection; another one waits until all before it are acknowledged.
TEST_F(Dc, OneDestinationAtATime) {
  for (int k = 0; k < 8; ++k) put(to(first), 64u * k);
  EXPECT_EQ(run(), Syndrome::kNone);
  for (int k = 1; k < 8; ++k) EXPECT_EQ(next(), Syndrome::kNone);
  EXPECT_EQ(nic.a.device.counters.dc_connects, 1u);

  for (int k = 0; k < 8; ++k) put(to(k % 2 == 0 ? second : first), 64u * k);
  nic.a.announce();
  std::size_t most = 0;
  while (nic.step()) {
    const auto& requester = nic.a.qp->requester;
    most = std::max<std::size_t>(most, requester.newest - requester.oldest);
  }
  EXPECT_EQ(most, 1u) << "two destinations were under way at once";
  for (int k = 0; k < 8; ++k) EXPECT_EQ(next(), Syndrome::kNone);
  EXPECT_EQ(nic.a.device.counters.dc_connects, 9u);
  EXPECT_EQ(nic.b.device.counters.packets_dropped, 0u);
}

// A NOP has no destination.
TEST_F(Dc, NopNeedsNoAddress) {
  nic.a.put(wire::ctrl_segment(nic.a.next(), wire::Opcode::kNop, 1));
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_EQ(nic.a.device.counters.dc_connects, 0u);
}

// A connection ends with its DCI, and a new DCI with that number starts afresh.
TEST_F(Dc, ResetForgetsTheConnection) {
  put(to(first), 0);
  ASSERT_EQ(run(), Syndrome::kNone);
  auto attributes = nic.a.qp->attributes;
  {
    const Engine::Lock lock(nic.engine);
    for (const auto to : {QpState::kReset, QpState::kInit, QpState::kRtr, QpState::kRts}) {
      ASSERT_EQ(nic.engine.modify_qp(nic.a.device, *nic.a.qp, to, attributes), Engine::Modify::kOk);
    }
  }
  nic.run();
  EXPECT_EQ(dct(first).dct->connections.begin()->second.responder->state, QpState::kReset);
  nic.a.pi = 0;
  nic.a.record();
  std::memset(nic.b.buffer.data, 0, 64);
  put(to(first), 0);
  EXPECT_EQ(run(), Syndrome::kNone);
  EXPECT_TRUE(arrived(0, 8));
}

// The answer is lost, so connect packet and request come again: the DCT knows both, and adds once.
TEST_F(Dc, ARepeatedRequestIsNotExecutedAgain) {
  put_add(first, 2);
  nic.a.announce();
  while (dct(first).dct->connections.empty()) ASSERT_TRUE(nic.step());
  nic.a.qp->state = QpState::kInit;  // drops what arrives
  nic.run();
  ASSERT_EQ(nic.a.poll(), nullptr) << "the answer came all the same";
  nic.a.qp->state = QpState::kRts;
  nic.run_for(std::chrono::milliseconds(600));
  EXPECT_EQ(next(), Syndrome::kNone);
  EXPECT_GE(nic.a.device.counters.retransmissions, 1u);
  std::uint64_t sum = 0;
  std::memcpy(&sum, nic.b.buffer.data, sizeof sum);
  EXPECT_EQ(sum, 2u);
}

// A DCT that goes takes its connections along; the DCI finds out by its retries.
TEST_F(Dc, DctRemovedUnderWay) {
  put(to(first), 0);
  ASSERT_EQ(run(), Syndrome::kNone);
  {
    const Engine::Lock lock(nic.engine);
    nic.engine.remove_qp(nic.b.device, dct(first));
  }
  put(to(first), 64);
  EXPECT_EQ(run_out_of_retries(), Syndrome::kRetryExceeded);
}

}  // namespace
}  // namespace marrow::cx7::test
