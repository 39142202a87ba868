// SPDX-License-Identifier: Apache-2.0
// CREATE, QUERY, DRAIN and DESTROY of DC targets, the way of a DCI to RTS, and where address vectors lead.
#include <gtest/gtest.h>

#include "cx7/fw/firmware.h"

namespace marrow::cx7::fw {
namespace {

using S = CommandStatus;
constexpr std::uint64_t kKey = 0x0123456789abcdef;

class Dct : public Firmware {
 protected:
  cx7::Srq* srq_ = nullptr;

  void SetUp() override {
    srq_ = &client_.engine.add_srq(client_.device, {.srqn = client_.device.srqs.next_number(), .pdn = kPdn});
    client_.srqs.insert(srq_->srqn);
    ASSERT_EQ(run(good_cq()), S::kOk);
    cqn_ = made();
  }
  [[nodiscard]] Mailbox good_dct() const {
    auto in = box(Command::kCreateDct, 0x80);
    std::byte* const c = in.data() + 0x10;
    prm::set(c, prm::dctc::user_index, 0xabc);
    prm::set(c, prm::dctc::cqn, cqn_);
    prm::set(c, prm::dctc::atomic_mode, 3);
    prm::set(c, prm::dctc::rre, 1);
    prm::set(c, prm::dctc::rwe, 1);
    prm::set(c, prm::dctc::rae, 1);
    prm::set(c, prm::dctc::min_rnr_nak, 12);
    prm::set(c, prm::dctc::srqn, srq_->srqn);
    prm::set(c, prm::dctc::pd, kPdn);
    prm::set(c, prm::dctc::dc_access_key, kKey);
    prm::set(c, prm::dctc::mtu, 3);
    prm::set(c, prm::dctc::port, 1);
    return in;
  }
  /// A DCI in `state`, one command after the other.
  std::uint32_t make_dci() {
    auto in = good_qp();
    prm::set(in.data() + prm::create_qp::kContext, prm::qpc::service_type, 5);
    EXPECT_EQ(run(in), S::kOk);
    return made();
  }
  [[nodiscard]] static Mailbox step(Command command, std::uint32_t qpn) {
    auto in = box(command, 0x110);
    prm::set(in.data(), prm::modify_qp::qpn, qpn);
    std::byte* const c = in.data() + prm::modify_qp::kContext;
    if (command == Command::kRst2Init) {
      prm::set(c, prm::qpc::pm_state, 3);
      prm::set(c, prm::qpc::dc_access_key, kKey);
      prm::set(c + prm::qpc::kPrimaryPath, prm::ads::port, 1);
    } else if (command == Command::kInit2Rtr) {
      prm::set(c, prm::qpc::mtu, 3);
      prm::set(c, prm::qpc::log_msg_max, 30);
      prm::set(c + prm::qpc::kPrimaryPath, prm::ads::sl, 1);
    } else {
      prm::set(c, prm::qpc::retry_count, 7);
      prm::set(c, prm::qpc::log_sra_max, 4);
      prm::set(c + prm::qpc::kPrimaryPath, prm::ads::ack_timeout, 14);
    }
    return in;
  }
};

TEST_F(Dct, Refusals) {
  struct Row {
    const char* what;
    void (*spoil)(std::byte* context);
    S expected;
  };
  const Row rows[] = {
      {"a foreign PD", [](auto* c) { prm::set(c, prm::dctc::pd, 0x12); }, S::kBadResource},
      {"no such CQ", [](auto* c) { prm::set(c, prm::dctc::cqn, 0x999); }, S::kBadResource},
      {"no SRQ", [](auto* c) { prm::set(c, prm::dctc::srqn, 0); }, S::kBadResource},
      {"no MTU", [](auto* c) { prm::set(c, prm::dctc::mtu, 0); }, S::kBadParameter},
      {"MTU too large", [](auto* c) { prm::set(c, prm::dctc::mtu, 6); }, S::kBadParameter},
      {"no port", [](auto* c) { prm::set(c, prm::dctc::port, 0); }, S::kBadParameter},
      {"no such pkey", [](auto* c) { prm::set(c, prm::dctc::pkey_index, 1); }, S::kBadIndex},
      {"16-byte atomics", [](auto* c) { prm::set(c, prm::dctc::atomic_mode, 4); }, S::kBadParameter},
      {"scatter to CQE", [](auto* c) { prm::set(c, prm::dctc::cs_res, 1); }, S::kBadParameter},
  };
  for (const auto& row : rows) {
    auto in = good_dct();
    row.spoil(in.data() + 0x10);
    EXPECT_EQ(run(in), row.expected) << row.what;
  }
  EXPECT_EQ(client_.device.qps.count(), 0u);
  EXPECT_EQ(srq_->users, 0u);
}

TEST_F(Dct, IsActiveAtOnceAndKnownByNumber) {
  ASSERT_EQ(run(good_dct()), S::kOk);
  const auto dctn = made();
  const Qp* const dct = client_.device.qps.find(dctn);
  ASSERT_NE(dct, nullptr);
  EXPECT_EQ(dct->config.service, ServiceType::kDct);
  EXPECT_EQ(dct->dct->key, kKey);
  EXPECT_EQ(dct->attributes.mtu_bytes, 1024u);
  EXPECT_EQ(dct->attributes.access, std::uint32_t{kRemoteRead | kRemoteWrite | kRemoteAtomic});

  ASSERT_EQ(run(about(Command::kQueryDct, dctn)), S::kOk);
  const std::byte* const said = out_.data() + 0x10;
  EXPECT_EQ(prm::get(said, prm::Field64{0x20}), kKey);
  EXPECT_EQ(prm::get(said, prm::dctc::user_index), 0xabcu);
  EXPECT_EQ(prm::get(said, prm::dctc::srqn), srq_->srqn);
  EXPECT_EQ(prm::get(said, prm::dctc::pd), kPdn);
  EXPECT_EQ(prm::get(said, prm::dctc::state), 0u);
}

// It uses its CQ and its SRQ, it is no QP, and it goes only drained.
TEST_F(Dct, LifeAndEnd) {
  ASSERT_EQ(run(good_dct()), S::kOk);
  const auto dctn = made();
  EXPECT_EQ(srq_->users, 1u);
  EXPECT_EQ(run(about(Command::kDestroyCq, cqn_)), S::kResourceBusy);
  EXPECT_EQ(run(about(Command::kQueryQp, dctn)), S::kBadResource);
  EXPECT_EQ(run(about(Command::kQp2Rst, dctn)), S::kBadResource);
  EXPECT_EQ(run(about(Command::kDestroyDct, dctn)), S::kBadResourceState);
  ASSERT_EQ(run(about(Command::kDrainDct, dctn)), S::kOk);
  ASSERT_EQ(run(about(Command::kQueryDct, dctn)), S::kOk);
  EXPECT_EQ(prm::get(out_.data() + 0x10, prm::dctc::state), 2u);
  EXPECT_EQ(run(about(Command::kDestroyDct, dctn)), S::kOk);
  EXPECT_EQ(run(about(Command::kQueryDct, dctn)), S::kBadResource);
  EXPECT_EQ(run(about(Command::kDestroyCq, cqn_)), S::kOk);
  EXPECT_EQ(srq_->users, 0u);
}

TEST_F(Dct, AnotherClientsDctDoesNotExist) {
  ASSERT_EQ(run(good_dct()), S::kOk);
  const auto dctn = made();
  Client other(engine_, engine_.device(0));
  Mailbox out(0x110);
  for (const auto command : {Command::kQueryDct, Command::kDrainDct, Command::kDestroyDct}) {
    EXPECT_EQ(execute(other, about(command, dctn), out).status, S::kBadResource);
  }
}

TEST_F(Dct, DciRefusals) {
  auto in = good_qp();
  prm::set(in.data() + prm::create_qp::kContext, prm::qpc::service_type, 5);
  prm::set(in.data() + prm::create_qp::kContext, prm::qpc::rq_type, 0);
  prm::set(in.data() + prm::create_qp::kContext, prm::qpc::cqn_rcv, cqn_);
  EXPECT_EQ(run(in), S::kBadParameter) << "a receive queue";
  const auto dci = make_dci();
  ASSERT_EQ(run(step(Command::kRst2Init, dci)), S::kOk);
  auto rtr = step(Command::kInit2Rtr, dci);
  prm::set(rtr.data() + prm::modify_qp::kContext, prm::qpc::remote_qpn, 0x10041);
  EXPECT_EQ(run(rtr), S::kBadParameter) << "a DCI has no peer";
  rtr = step(Command::kInit2Rtr, dci);
  prm::set(rtr.data() + prm::modify_qp::kContext, prm::qpc::mtu, 0);
  EXPECT_EQ(run(rtr), S::kBadParameter);
  const auto rc = make_qp();
  EXPECT_EQ(run(step(Command::kRst2Init, rc)), S::kBadParameter) << "an RC QP with an access key";
}

TEST_F(Dct, DciComesUpWithoutAPeer) {
  const auto dci = make_dci();
  for (const auto command : {Command::kRst2Init, Command::kInit2Rtr, Command::kRtr2Rts}) {
    ASSERT_EQ(run(step(command, dci)), S::kOk);
  }
  const Qp* const qp = client_.device.qps.find(dci);
  EXPECT_EQ(qp->state, QpState::kRts);
  EXPECT_NE(qp->dci, nullptr);
  EXPECT_EQ(qp->attributes.remote_device, kNoDevice);
  EXPECT_EQ(qp->attributes.initiator_reads, 16);
  ASSERT_EQ(run(about(Command::kQueryQp, dci)), S::kOk);
  EXPECT_EQ(prm::get(out_.data() + prm::query_qp::kContext, prm::qpc::service_type), 5u);
}

TEST_F(Dct, AddressVectorsLeadByLid) {
  EXPECT_EQ(routing().device_of(wire::infiniband_av({.key = kKey, .dctn = 0x41, .lid = 2})), 1);
  EXPECT_EQ(routing().device_of(wire::infiniband_av({.key = kKey, .dctn = 0x41, .lid = 3})), kNoDevice);
  auto av = wire::infiniband_av({.key = kKey, .dctn = 0x41, .lid = 2});
  av.compact = wire::av_head(av, wire::kFullAvDs);
  EXPECT_EQ(routing().device_of(av), 1) << "no GRH: the GID means nothing";
  av.extension.grh = wire::be32(1u << 30);
  EXPECT_EQ(routing().device_of(av), kNoDevice) << "a GID that is nobody's";
  av.extension.gid = gid_table(1)[0].gid;
  EXPECT_EQ(routing().device_of(av), 1);
}

TEST_F(Dct, AddressVectorsLeadByGidAndMacOnRoce) {
  override_link_layer(LinkLayer::kEthernet);
  wire::DcRoute route;
  route.gid = gid_table(1)[3].gid;
  route.mac = device_facts(1).mac;
  const wire::DcAddress to{.key = kKey, .dctn = 0x41};
  EXPECT_EQ(routing().device_of(wire::ethernet_av(to, route, 0xc000)), 1);
  EXPECT_EQ(routing().device_of(wire::infiniband_av(to)), kNoDevice) << "a compact one has no GID";
  route.mac[0] ^= 0x10;
  EXPECT_EQ(routing().device_of(wire::ethernet_av(to, route, 0xc000)), kNoDevice);
}

}  // namespace
}  // namespace marrow::cx7::fw
