// SPDX-License-Identifier: Apache-2.0
// RST2INIT, INIT2INIT, INIT2RTR, RTR2RTS, RTS2RTS, 2ERR, 2RST: what each refuses, what each sets.
#include <gtest/gtest.h>

#include "cx7/fw/firmware.h"

namespace marrow::cx7::fw {
namespace {

using S = CommandStatus;

class Transition : public Firmware {
 protected:
  explicit Transition(Checking checking = Checking::kStrict) : Firmware(checking) {}
  void SetUp() override { qpn_ = make_qp(); }

  [[nodiscard]] Mailbox step(Command command) const {
    auto in = box(command, 0x110);
    prm::set(in.data(), prm::modify_qp::qpn, qpn_);
    std::byte* const c = in.data() + prm::modify_qp::kContext;
    std::byte* const path = c + prm::qpc::kPrimaryPath;
    if (command == Command::kRst2Init) {
      prm::set(c, prm::qpc::pm_state, 3);
      prm::set(c, prm::qpc::rwe, 1);
      prm::set(c, prm::qpc::rae, 1);
      prm::set(c, prm::qpc::atomic_mode, 3);
      prm::set(path, prm::ads::port, 1);
    }
    if (command == Command::kInit2Rtr) {
      prm::set(c, prm::qpc::mtu, 3);
      prm::set(c, prm::qpc::log_msg_max, 30);
      prm::set(c, prm::qpc::remote_qpn, 0x10041);
      prm::set(c, prm::qpc::next_rcv_psn, 0x123456);
      prm::set(c, prm::qpc::min_rnr_nak, 12);
      prm::set(c, prm::qpc::log_rra_max, 4);
      to_peer(path);
    }
    if (command == Command::kRtr2Rts) {
      prm::set(c, prm::qpc::next_send_psn, 0x654321);
      prm::set(c, prm::qpc::retry_count, 7);
      prm::set(c, prm::qpc::rnr_retry, 6);
      prm::set(c, prm::qpc::log_sra_max, 2);
      prm::set(c, prm::qpc::log_ack_req_freq, 8);
      prm::set(path, prm::ads::ack_timeout, 14);
    }
    return in;
  }
  static void to_peer(std::byte* path) {
    if (link_layer() == LinkLayer::kInfiniBand) {
      prm::set(path, prm::ads::rlid, 2);
      return;
    }
    std::memcpy(path + prm::ads::kRemoteGid, gid_table(1)[3].gid.data(), 16);
    std::memcpy(path + prm::ads::kRemoteMac, device_facts(1).mac.data(), 6);
    prm::set(path, prm::ads::src_addr_index, 3);
    prm::set(path, prm::ads::hop_limit, 64);
    prm::set(path, prm::ads::udp_sport, 0xc000);
  }
  S spoiled(Command command, void (*spoil)(std::byte* box, std::byte* context, std::byte* path)) {
    auto in = step(command);
    std::byte* const c = in.data() + prm::modify_qp::kContext;
    spoil(in.data(), c, c + prm::qpc::kPrimaryPath);
    return run(in);
  }
  [[nodiscard]] const Qp& qp() const { return *client_.device.qps.find(qpn_); }
  void send_record(std::uint32_t value) {
    const wire::be32 word(value);
    std::memcpy(memory_->data() + kDbrecAt + 64 + 4, &word, sizeof word);
  }

  std::uint32_t qpn_ = 0;
};

TEST_F(Transition, Rst2InitRefusals) {
  EXPECT_EQ(spoiled(Command::kRst2Init, [](auto* b, auto*, auto*) { prm::set(b, prm::modify_qp::qpn, 0x999); }),
            S::kBadResource);
  EXPECT_EQ(spoiled(Command::kRst2Init, [](auto*, auto*, auto* p) { prm::set(p, prm::ads::port, 2); }),
            S::kBadParameter);
  EXPECT_EQ(spoiled(Command::kRst2Init, [](auto*, auto*, auto* p) { prm::set(p, prm::ads::port, 0); }),
            S::kBadParameter);
  EXPECT_EQ(spoiled(Command::kRst2Init, [](auto*, auto*, auto* p) { prm::set(p, prm::ads::pkey_index, 1); }),
            S::kBadIndex);
  EXPECT_EQ(spoiled(Command::kRst2Init, [](auto*, auto* c, auto*) { prm::set(c, prm::qpc::pm_state, 1); }),
            S::kBadParameter);
  EXPECT_EQ(spoiled(Command::kRst2Init, [](auto*, auto* c, auto*) { prm::set(c, prm::qpc::atomic_mode, 4); }),
            S::kBadParameter);
  EXPECT_EQ(
      spoiled(Command::kRst2Init, [](auto* b, auto*, auto*) { prm::set(b, prm::modify_qp::opt_param_mask, 1u << 30); }),
      S::kBadParameter);
  EXPECT_EQ(qp().state, QpState::kReset);
  EXPECT_EQ(run(step(Command::kInit2Rtr)), S::kBadQpState);
  EXPECT_EQ(run(step(Command::kRtr2Rts)), S::kBadQpState);
  EXPECT_EQ(run(step(Command::kRts2Rts)), S::kBadQpState);
}

// A record left over from the QP's former life would be executed as work.
TEST_F(Transition, Rst2InitWantsAFreshRecord) {
  send_record(5);
  EXPECT_EQ(run(step(Command::kRst2Init)), S::kBadParameter);
  send_record(0);
  EXPECT_EQ(run(step(Command::kRst2Init)), S::kOk);
}

class LenientTransition : public Transition {
 protected:
  LenientTransition() : Transition(Checking::kLenient) {}
};

TEST_F(LenientTransition, Rst2InitTakesAnyRecord) {
  send_record(5);
  EXPECT_EQ(run(step(Command::kRst2Init)), S::kOk);
}

TEST_F(Transition, Rst2InitSetsTheAccessRights) {
  ASSERT_EQ(run(step(Command::kRst2Init)), S::kOk);
  EXPECT_EQ(qp().state, QpState::kInit);
  EXPECT_EQ(qp().attributes.access, std::uint32_t{kRemoteWrite | kRemoteAtomic});
}

TEST_F(Transition, AtomicsNeedAnAtomicMode) {
  ASSERT_EQ(spoiled(Command::kRst2Init, [](auto*, auto* c, auto*) { prm::set(c, prm::qpc::atomic_mode, 0); }), S::kOk);
  EXPECT_EQ(qp().attributes.access, std::uint32_t{kRemoteWrite});
}

TEST_F(Transition, Init2RtrRefusals) {
  ASSERT_EQ(run(step(Command::kRst2Init)), S::kOk);
  EXPECT_EQ(spoiled(Command::kInit2Rtr, [](auto*, auto* c, auto*) { prm::set(c, prm::qpc::mtu, 0); }),
            S::kBadParameter);
  EXPECT_EQ(spoiled(Command::kInit2Rtr, [](auto*, auto* c, auto*) { prm::set(c, prm::qpc::mtu, 6); }),
            S::kBadParameter);
  override_active_mtu_code(3);
  EXPECT_EQ(spoiled(Command::kInit2Rtr, [](auto*, auto* c, auto*) { prm::set(c, prm::qpc::mtu, 4); }), S::kBadParameter)
      << "more than the port's";
  override_active_mtu_code(0);
  EXPECT_EQ(spoiled(Command::kInit2Rtr, [](auto*, auto* c, auto*) { prm::set(c, prm::qpc::log_msg_max, 31); }),
            S::kExceedLimit);
  EXPECT_EQ(spoiled(Command::kInit2Rtr, [](auto*, auto* c, auto*) { prm::set(c, prm::qpc::log_rra_max, 5); }),
            S::kExceedLimit);
  EXPECT_EQ(
      spoiled(Command::kInit2Rtr,
              [](auto*, auto*, auto* p) { prm::set(p, prm::ads::grh, 1), prm::set(p, prm::ads::src_addr_index, 1); }),
      S::kBadIndex);
  EXPECT_EQ(run(step(Command::kRst2Init)), S::kBadQpState) << "it is in INIT already";
  EXPECT_EQ(qp().state, QpState::kInit);
}

TEST_F(Transition, TheWholeWayUpSetsEverything) {
  ASSERT_EQ(run(step(Command::kRst2Init)), S::kOk);
  ASSERT_EQ(run(step(Command::kInit2Rtr)), S::kOk);
  ASSERT_EQ(run(step(Command::kRtr2Rts)), S::kOk);
  const auto& a = qp().attributes;
  EXPECT_EQ(qp().state, QpState::kRts);
  EXPECT_EQ(a.mtu_bytes, 1024u);
  EXPECT_EQ(a.remote_qpn, 0x10041u);
  EXPECT_EQ(a.recv_psn, 0x123456u);
  EXPECT_EQ(a.send_psn, 0x654321u);
  EXPECT_EQ(a.min_rnr_nak, 12);
  EXPECT_EQ(a.responder_reads, 16);
  EXPECT_EQ(a.initiator_reads, 4);
  EXPECT_EQ(a.ack_timeout, 14);
  EXPECT_EQ(a.retry_count, 7);
  EXPECT_EQ(a.rnr_retry, 6);
  EXPECT_EQ(a.log_ack_req_freq, 8);
  EXPECT_EQ(a.remote_device, 1);

  ASSERT_EQ(run(about(Command::kQueryQp, qpn_)), S::kOk);
  const std::byte* const said = out_.data() + prm::query_qp::kContext;
  EXPECT_EQ(prm::get(said, prm::qpc::state), 3u);
  EXPECT_EQ(prm::get(said, prm::qpc::mtu), 3u);
  EXPECT_EQ(prm::get(said, prm::qpc::next_send_psn), 0x654321u);
  EXPECT_EQ(prm::get(said, prm::qpc::next_rcv_psn), 0x123456u);
  EXPECT_EQ(prm::get(said, prm::qpc::log_rra_max), 4u);
  EXPECT_EQ(prm::get(said, prm::qpc::log_sra_max), 2u);
}

TEST_F(Transition, Rtr2RtsRefusals) {
  ASSERT_EQ(run(step(Command::kRst2Init)), S::kOk);
  ASSERT_EQ(run(step(Command::kInit2Rtr)), S::kOk);
  EXPECT_EQ(spoiled(Command::kRtr2Rts, [](auto*, auto* c, auto*) { prm::set(c, prm::qpc::log_sra_max, 5); }),
            S::kExceedLimit);
  EXPECT_EQ(spoiled(Command::kRtr2Rts,
                    [](auto* b, auto*, auto*) { prm::set(b, prm::modify_qp::opt_param_mask, prm::opt::kPkeyIndex); }),
            S::kBadParameter);
}

// Access rights change one by one, and only where the mask says so.
TEST_F(Transition, OptionalFieldsNeedTheirBit) {
  ASSERT_EQ(run(step(Command::kRst2Init)), S::kOk);
  ASSERT_EQ(spoiled(Command::kInit2Init, [](auto*, auto* c, auto*) { prm::set(c, prm::qpc::rre, 1); }), S::kOk);
  EXPECT_EQ(qp().attributes.access, std::uint32_t{kRemoteWrite | kRemoteAtomic}) << "no bit, no change";
  ASSERT_EQ(spoiled(Command::kInit2Init,
                    [](auto* b, auto* c, auto*) {
                      prm::set(c, prm::qpc::rre, 1);
                      prm::set(b, prm::modify_qp::opt_param_mask, prm::opt::kRre | prm::opt::kRwe);
                    }),
            S::kOk);
  EXPECT_EQ(qp().attributes.access, std::uint32_t{kRemoteRead | kRemoteAtomic});
}

TEST_F(Transition, DownFromAnywhere) {
  ASSERT_EQ(run(step(Command::kRst2Init)), S::kOk);
  EXPECT_EQ(run(about(Command::kQp2Err, qpn_)), S::kOk);
  EXPECT_EQ(qp().state, QpState::kError);
  EXPECT_EQ(run(step(Command::kInit2Rtr)), S::kBadQpState);
  EXPECT_EQ(run(about(Command::kQp2Rst, qpn_)), S::kOk);
  EXPECT_EQ(qp().state, QpState::kReset);
  EXPECT_EQ(run(step(Command::kRst2Init)), S::kOk);
}

class RoceTransition : public Transition {
 protected:
  void SetUp() override {
    override_link_layer(LinkLayer::kEthernet);
    Transition::SetUp();
    ASSERT_EQ(run(step(Command::kRst2Init)), S::kOk);
  }
};

TEST_F(RoceTransition, PathRefusals) {
  EXPECT_EQ(spoiled(Command::kInit2Rtr, [](auto*, auto*, auto* p) { prm::set(p, prm::ads::grh, 1); }),
            S::kBadParameter);
  EXPECT_EQ(spoiled(Command::kInit2Rtr, [](auto*, auto*, auto* p) { prm::set(p, prm::ads::src_addr_index, 4); }),
            S::kBadIndex);
  EXPECT_EQ(spoiled(Command::kInit2Rtr, [](auto*, auto*, auto* p) { prm::set(p, prm::ads::udp_sport, 0xbfff); }),
            S::kBadParameter);
}

TEST_F(RoceTransition, LeadsToTheDeviceWithThatGidAndMac) {
  ASSERT_EQ(run(step(Command::kInit2Rtr)), S::kOk);
  EXPECT_EQ(qp().attributes.remote_device, 1);
}

// The GID says device 1, the MAC is nobody's: on a fabric nobody would take the packets.
TEST_F(RoceTransition, AWrongMacLeadsNowhere) {
  ASSERT_EQ(spoiled(Command::kInit2Rtr, [](auto*, auto*, auto* p) { p[prm::ads::kRemoteMac] ^= std::byte{0x10}; }),
            S::kOk);
  EXPECT_EQ(qp().attributes.remote_device, kNoDevice);
}

}  // namespace
}  // namespace marrow::cx7::fw
