// SPDX-License-Identifier: Apache-2.0
// Both ends of DC through verbs: what a target needs, that it gets its number late, and whose rules an initiator
// follows.
#include <gtest/gtest.h>

#include "cx7/abi/nic.h"

namespace marrow::cx7 {
namespace {

constexpr std::uint64_t kKey = 0x0123456789abcdef;
constexpr std::uint32_t kToInit = 0x39;   // state, access, P_Key index, port
constexpr std::uint32_t kToRtr = 0x8181;  // state, address, path MTU, RNR timer

class VerbsDc : public testing::Test {
 protected:
  std::uint32_t make_srq(std::uint32_t pd) {
    mlx5_ib_create_srq own{};
    own.buf_addr = nic.memory.address(0x80000);
    own.db_addr = nic.memory.address(0x81000);
    const std::uint64_t user_handle = 0x77;
    std::uint32_t entries = 1;
    std::uint32_t sges = 1;
    const std::uint32_t limit = 0;
    mlx5_ib_create_srq_resp resp{};
    Call call(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
    call.handle(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0)
        .handle(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, pd)
        .in(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, user_handle)
        .in(UVERBS_ATTR_CREATE_SRQ_MAX_WR, entries)
        .in(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, sges)
        .in(UVERBS_ATTR_CREATE_SRQ_LIMIT, limit)
        .in(UVERBS_ATTR_CREATE_SRQ_TYPE, std::uint32_t{IB_UVERBS_SRQT_BASIC})
        .out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, entries)
        .out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, sges)
        .in(UVERBS_ATTR_UHW_IN, own)
        .out(UVERBS_ATTR_UHW_OUT, resp);
    EXPECT_EQ(call(*nic.file), 0);
    return call.handle_of(UVERBS_ATTR_CREATE_SRQ_HANDLE);
  }
  QpRequest good_target() {
    auto request = nic.good_qp();
    request.type = IB_UVERBS_QPT_DRIVER;
    request.own = {};
    request.own.flags = MLX5_QP_FLAG_TYPE_DCT;
    request.own.uidx = 0x55;
    request.own.access_key = kKey;
    request.srq = make_srq(request.pd);
    return request;
  }
  ib_uverbs_modify_qp to(std::uint32_t qp, std::uint8_t state, std::uint32_t mask) {
    ib_uverbs_modify_qp r{};
    r.qp_handle = qp;
    r.qp_state = state;
    r.attr_mask = mask;
    r.port_num = 1;
    r.path_mtu = 3;
    r.min_rnr_timer = 12;
    r.qp_access_flags = IB_UVERBS_ACCESS_REMOTE_WRITE;
    return r;
  }

  Nic nic;
};

TEST_F(VerbsDc, TargetNeedsAnSrqAndNoQueues) {
  auto request = good_target();
  request.srq = 0;
  EXPECT_EQ(nic.create_qp(request).result, -EINVAL);
  request = good_target();
  request.own.flags |= MLX5_QP_FLAG_TYPE_DCI;
  EXPECT_EQ(nic.create_qp(request).result, -EOPNOTSUPP) << "both ends at once";
  request.own.flags = MLX5_QP_FLAG_TYPE_DCT | MLX5_QP_FLAG_UAR_PAGE_INDEX;
  EXPECT_EQ(nic.create_qp(request).result, -EOPNOTSUPP) << "a doorbell page";
}

TEST_F(VerbsDc, TargetComesIntoBeingAtRtr) {
  const auto request = good_target();
  const auto target = nic.create_qp(request);
  ASSERT_EQ(target.result, 0);
  EXPECT_EQ(nic.engine->device(0).qps.count(), 0u);
  EXPECT_EQ(nic.destroy_cq(request.recv_cq), -EBUSY) << "it will need it";
  EXPECT_EQ(nic.modify(to(target.handle, 2, kToRtr)), -EINVAL) << "not from RESET";
  EXPECT_EQ(nic.modify(to(target.handle, 1, kToInit & ~8u)), -EINVAL) << "without rights";
  ASSERT_EQ(nic.modify(to(target.handle, 1, kToInit)), 0);
  EXPECT_EQ(nic.modify(to(target.handle, 2, kToRtr | 1u << 9)), -EINVAL) << "a time-out";
  ASSERT_EQ(nic.modify(to(target.handle, 2, kToRtr)), 0);
  EXPECT_EQ(nic.modify(to(target.handle, 3, 1)), -EINVAL) << "it sends nothing";
  ASSERT_EQ(nic.engine->device(0).dcts.size(), 1u);
  const Qp& dct = *nic.engine->device(0).dcts[0];
  EXPECT_EQ(dct.dct->key, kKey);
  EXPECT_EQ(dct.config.user_index, 0x55u);
  EXPECT_EQ(dct.attributes.access, std::uint32_t{kRemoteWrite});
  EXPECT_EQ(nic.destroy_qp(target.handle), 0);
  EXPECT_EQ(nic.engine->device(0).qps.count(), 0u);
  EXPECT_EQ(nic.destroy_cq(request.recv_cq), 0);
}

TEST_F(VerbsDc, InitiatorHasNoPeerOfItsOwn) {
  auto request = nic.good_qp();
  request.type = IB_UVERBS_QPT_DRIVER;
  request.own.flags |= MLX5_QP_FLAG_TYPE_DCI;
  request.own.rq_wqe_count = 0;
  const auto made = nic.create_qp(request);
  ASSERT_EQ(made.result, 0);
  EXPECT_EQ(nic.modify(to(made.handle, 1, kToInit)), -EINVAL) << "rights mean nothing";
  ASSERT_EQ(nic.modify(to(made.handle, 1, kToInit & ~8u)), 0);
  EXPECT_EQ(nic.modify(to(made.handle, 2, 1u << 0 | 1u << 8 | 1u << 20)), -EINVAL) << "a destination QPN";
  ASSERT_EQ(nic.modify(to(made.handle, 2, 1u << 0 | 1u << 8)), 0);
  auto rts = to(made.handle, 3, 0x12e01);
  rts.timeout = 14;
  rts.retry_cnt = 7;
  rts.rnr_retry = 7;
  rts.max_rd_atomic = 4;
  ASSERT_EQ(nic.modify(rts), 0);
  const Qp* const dci = nic.engine->device(0).qps.find(made.number);
  EXPECT_NE(dci->dci, nullptr);
  EXPECT_EQ(dci->state, QpState::kRts);
}

}  // namespace
}  // namespace marrow::cx7
