// SPDX-License-Identifier: Apache-2.0
// MODIFY_QP: the attributes that each transition demands and allows, their ranges, and where a path leads.
#include <gtest/gtest.h>

#include "cx7/abi/nic.h"

namespace marrow::cx7 {
namespace {

// The masks that ibv_rc_pingpong and perftest send [obs].
constexpr std::uint32_t kToInit = 0x39;
constexpr std::uint32_t kToRtr = 0x129181;
constexpr std::uint32_t kToRts = 0x12e01;

enum State : std::uint8_t { kResetState, kInitState, kRtrState, kRtsState, kSqdState, kSqeState, kErrorState };

class ModifyQp : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = nic_.create_qp(nic_.good_qp());
    ASSERT_EQ(made.result, 0);
    qp_ = made.handle;
    device_qp_ = nic_.engine->device(0).qps.find(made.number);
  }
  void TearDown() override { override_link_layer(LinkLayer::kInfiniBand); }

  [[nodiscard]] ib_uverbs_modify_qp to(State state) const {
    ib_uverbs_modify_qp r{};
    r.qp_handle = qp_;
    r.qp_state = state;
    r.attr_mask = state == kInitState ? kToInit : state == kRtrState ? kToRtr : state == kRtsState ? kToRts : 1;
    r.port_num = 1;
    r.qp_access_flags = IB_UVERBS_ACCESS_REMOTE_WRITE;
    r.path_mtu = 5;
    r.dest_qp_num = 0x123456;
    r.rq_psn = 77;
    r.sq_psn = 99;
    r.max_rd_atomic = 4;
    r.max_dest_rd_atomic = 8;
    r.min_rnr_timer = 12;
    r.timeout = 14;
    r.retry_cnt = 7;
    r.rnr_retry = 6;
    r.dest.dlid = 2;
    r.dest.port_num = 1;
    return r;
  }
  void bring_to(State state) {
    for (int s = kInitState; s <= state; ++s) ASSERT_EQ(nic_.modify(to(static_cast<State>(s))), 0) << s;
  }

  Nic nic_;
  std::uint32_t qp_ = 0;
  Qp* device_qp_ = nullptr;
};

// Every bit that a transition demands is missed; every bit that it does not know is refused.
TEST_F(ModifyQp, DemandsAndAllowsTheRightAttributes) {
  struct Row {
    State to;
    std::uint32_t required;
    std::uint32_t optional;
  };
  const Row rows[] = {{kInitState, kToInit & ~1u, 0},
                      {kRtrState, kToRtr & ~1u, 1u << 3 | 1u << 4},
                      {kRtsState, kToRts & ~1u, 1u << 3 | 1u << 15}};
  for (const auto& row : rows) {
    for (std::uint32_t bit = 1; bit < 26; ++bit) {
      const auto mask = 1u << bit;
      auto request = to(row.to);
      if (row.required & mask) {
        request.attr_mask &= ~mask;
        EXPECT_EQ(nic_.modify(request), -EINVAL) << "to " << row.to << " without bit " << bit;
      } else if ((row.optional & mask) == 0 && bit != 1 && bit != 14 && bit != 18) {
        request.attr_mask |= mask;
        EXPECT_EQ(nic_.modify(request), -EINVAL) << "to " << row.to << " with bit " << bit;
      }
    }
    ASSERT_EQ(nic_.modify(to(row.to)), 0);
  }
}

TEST_F(ModifyQp, FollowsTheStateMachine) {
  for (const auto state : {kRtrState, kRtsState, kSqdState, kSqeState, kErrorState}) {
    EXPECT_EQ(nic_.modify(to(state)), -EINVAL) << "RESET to " << int{state};
  }
  bring_to(kInitState);
  EXPECT_EQ(nic_.modify(to(kRtsState)), -EINVAL);
  ASSERT_EQ(nic_.modify(to(kRtrState)), 0);
  EXPECT_EQ(nic_.modify(to(kInitState)), -EINVAL);
  ASSERT_EQ(nic_.modify(to(kRtsState)), 0);
  EXPECT_EQ(nic_.modify(to(kSqdState)), -EINVAL);
  EXPECT_EQ(nic_.modify(to(kErrorState)), 0);
  EXPECT_EQ(nic_.modify(to(kRtsState)), -EINVAL);
  EXPECT_EQ(nic_.modify(to(kResetState)), 0);
  EXPECT_EQ(nic_.modify(to(kInitState)), 0);
}

TEST_F(ModifyQp, RefusesValuesOutOfRange) {
  struct Row {
    const char* what;
    State to;
    void (*spoil)(ib_uverbs_modify_qp&);
  };
  const Row rows[] = {
      {"port 2", kInitState, [](auto& r) { r.port_num = 2; }},
      {"pkey index", kInitState, [](auto& r) { r.pkey_index = 1; }},
      {"access bits", kInitState, [](auto& r) { r.qp_access_flags = 1u << 9; }},
      {"mtu 0", kRtrState, [](auto& r) { r.path_mtu = 0; }},
      {"mtu 6", kRtrState, [](auto& r) { r.path_mtu = 6; }},
      {"QPN of 25 bits", kRtrState, [](auto& r) { r.dest_qp_num = 1u << 24; }},
      {"responder reads", kRtrState, [](auto& r) { r.max_dest_rd_atomic = 17; }},
      {"RNR timer", kRtrState, [](auto& r) { r.min_rnr_timer = 32; }},
      {"path port", kRtrState, [](auto& r) { r.dest.port_num = 2; }},
      {"source GID", kRtrState, [](auto& r) { r.dest.is_global = 1, r.dest.sgid_index = 5; }},
      {"initiator reads", kRtsState, [](auto& r) { r.max_rd_atomic = 17; }},
      {"timeout", kRtsState, [](auto& r) { r.timeout = 32; }},
      {"retry count", kRtsState, [](auto& r) { r.retry_cnt = 8; }},
      {"RNR retry", kRtsState, [](auto& r) { r.rnr_retry = 8; }},
      {"current state is another", kRtsState, [](auto& r) { r.attr_mask |= 2, r.cur_qp_state = kRtsState; }},
  };
  State reached = kResetState;
  for (const auto& row : rows) {
    for (; reached + 1 < row.to;) {
      reached = static_cast<State>(reached + 1);
      ASSERT_EQ(nic_.modify(to(reached)), 0);
    }
    auto request = to(row.to);
    row.spoil(request);
    EXPECT_EQ(nic_.modify(request), -EINVAL) << row.what;
    EXPECT_EQ(static_cast<int>(device_qp_->state), reached) << row.what << ": a refusal must not move the QP";
  }
}

// As where a network interface of 1500 bytes is behind the port.
TEST_F(ModifyQp, RefusesAPathMtuAboveThePorts) {
  ASSERT_EQ(nic_.modify(to(kInitState)), 0);
  override_active_mtu_code(3);
  auto request = to(kRtrState);
  request.path_mtu = 4;
  EXPECT_EQ(nic_.modify(request), -EINVAL);
  request.path_mtu = 3;
  EXPECT_EQ(nic_.modify(request), 0);
  override_active_mtu_code(0);
}

TEST_F(ModifyQp, RefusesAlternatePathsByName) {
  bring_to(kInitState);
  auto request = to(kRtrState);
  request.attr_mask |= 1u << 14;
  EXPECT_EQ(nic_.modify(request), -EOPNOTSUPP);
}

TEST_F(ModifyQp, RefusesRateLimitAndEce) {
  ib_uverbs_ex_modify_qp core{};
  mlx5_ib_modify_qp own{};
  const auto modify_ex = [&] {
    ib_uverbs_ex_modify_qp_resp out{};
    mlx5_ib_modify_qp_resp own_out{};
    return invoke_write(
        *nic_.file, IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
        {.core_in = bytes_of(core), .core_out = room_of(out), .own_in = bytes_of(own), .own_out = room_of(own_out)});
  };
  core.base = to(kInitState);
  core.rate_limit = 100;
  EXPECT_EQ(modify_ex(), -EOPNOTSUPP);
  core.rate_limit = 0;
  own.ece_options = 1;
  EXPECT_EQ(modify_ex(), -EOPNOTSUPP);
  own.ece_options = 0;
  EXPECT_EQ(modify_ex(), 0);
  EXPECT_EQ(device_qp_->state, QpState::kInit);
}

TEST_F(ModifyQp, SetsWhatTheMaskNames) {
  bring_to(kRtsState);
  const auto& a = device_qp_->attributes;
  EXPECT_EQ(a.mtu_bytes, 4096u);
  EXPECT_EQ(a.remote_qpn, 0x123456u);
  EXPECT_EQ(a.recv_psn, 77u);
  EXPECT_EQ(a.send_psn, 99u);
  EXPECT_EQ(a.initiator_reads, 4);
  EXPECT_EQ(a.responder_reads, 8);
  EXPECT_EQ(a.ack_timeout, 14);
  EXPECT_EQ(a.remote_device, 1);
  EXPECT_EQ(a.access, std::uint32_t{kRemoteWrite});
  auto request = to(kRtsState);
  request.attr_mask = 1 | 1u << 3;
  request.qp_access_flags = IB_UVERBS_ACCESS_REMOTE_READ;
  request.min_rnr_timer = 1;
  ASSERT_EQ(nic_.modify(request), 0);
  EXPECT_EQ(a.access, std::uint32_t{kRemoteRead});
  EXPECT_EQ(a.min_rnr_nak, 12) << "not named, not touched";
}

TEST_F(ModifyQp, QueryTellsWhatWasSaid) {
  bring_to(kRtsState);
  int result = 0;
  const auto said = nic_.query(qp_, result);
  ASSERT_EQ(result, 0);
  EXPECT_EQ(said.qp_state, kRtsState);
  EXPECT_EQ(said.path_mtu, 5);
  EXPECT_EQ(said.dest.dlid, 2);
  EXPECT_EQ(said.dest_qp_num, 0x123456u);
  EXPECT_EQ(said.port_num, 1);
  EXPECT_EQ(said.max_send_wr, 16u);
  EXPECT_EQ(said.retry_cnt, 7);
  nic_.query(0x999, result);
  EXPECT_EQ(result, -ENOENT);
}

// A LID or GID that nobody has is no error of the call: packets are lost, as on a fabric.
TEST_F(ModifyQp, UnknownDestinationsLeadNowhere) {
  bring_to(kInitState);
  auto request = to(kRtrState);
  request.dest.dlid = 9;
  ASSERT_EQ(nic_.modify(request), 0);
  EXPECT_EQ(device_qp_->attributes.remote_device, kNoDevice);
}

TEST_F(ModifyQp, RoceGoesByGid) {
  override_link_layer(LinkLayer::kEthernet);
  bring_to(kInitState);
  auto request = to(kRtrState);
  EXPECT_EQ(nic_.modify(request), -EINVAL) << "a LID means nothing on RoCE";
  request.dest.is_global = 1;
  request.dest.sgid_index = 4;
  EXPECT_EQ(nic_.modify(request), -EINVAL) << "empty GID slot";
  request.dest.sgid_index = 3;
  std::memcpy(request.dest.dgid, gid_table(1)[3].gid.data(), 16);
  ASSERT_EQ(nic_.modify(request), 0);
  EXPECT_EQ(device_qp_->attributes.remote_device, 1);
}

}  // namespace
}  // namespace marrow::cx7
