// SPDX-License-Identifier: Apache-2.0
// Queue pairs of the verbs: what is refused, and that the device gets the rings where libmlx5 put them.
#include <gtest/gtest.h>

#include "cx7/abi/nic.h"

namespace marrow::cx7 {
namespace {

TEST(CreateQp, RefusesWhatItCannotBe) {
  Nic nic;
  const auto good = nic.good_qp();
  struct Row {
    const char* what;
    void (*spoil)(QpRequest&);
    int expected;
  };
  const Row rows[] = {
      {"raw packet", [](auto& r) { r.type = IB_UVERBS_QPT_RAW_PACKET; }, -EOPNOTSUPP},
      {"XRC initiator with a receive CQ", [](auto& r) { r.type = IB_UVERBS_QPT_XRC_INI; }, -EINVAL},
      {"XRC target with a PD", [](auto& r) { r.type = IB_UVERBS_QPT_XRC_TGT; }, -EINVAL},
      {"driver type without DC's flags", [](auto& r) { r.type = IB_UVERBS_QPT_DRIVER; }, -EOPNOTSUPP},
      {"unknown creation flag", [](auto& r) { r.flags = 1u << 3; }, -EOPNOTSUPP},
      {"multicast that an RC QP never had", [](auto& r) { r.flags = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK; },
       -EOPNOTSUPP},
      {"no such PD", [](auto& r) { r.pd = 0x999; }, -ENOENT},
      {"a CQ for a PD", [](auto& r) { r.pd = r.send_cq; }, -EINVAL},
      {"no such CQ", [](auto& r) { r.send_cq = 0x999; }, -ENOENT},
      {"signature", [](auto& r) { r.own.flags |= MLX5_QP_FLAG_SIGNATURE; }, -EOPNOTSUPP},
      {"packet-based credits", [](auto& r) { r.own.flags |= MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE; }, -EOPNOTSUPP},
      {"no UAR page named", [](auto& r) { r.own.flags &= ~std::uint32_t{MLX5_QP_FLAG_UAR_PAGE_INDEX}; }, -EOPNOTSUPP},
      {"a UAR page of somebody else", [](auto& r) { r.own.bfreg_index = 60; }, -EINVAL},
      {"ECE", [](auto& r) { r.own.ece_options = 1; }, -EOPNOTSUPP},
      {"send ring no power of two", [](auto& r) { r.own.sq_wqe_count = 48; }, -EINVAL},
      {"send ring too large", [](auto& r) { r.own.sq_wqe_count = 1u << 16; }, -EINVAL},
      {"receive ring no power of two", [](auto& r) { r.own.rq_wqe_count = 3; }, -EINVAL},
      {"receive WQE too small", [](auto& r) { r.own.rq_wqe_shift = 3; }, -EINVAL},
      {"receive WQE too large", [](auto& r) { r.own.rq_wqe_shift = 10; }, -EINVAL},
      {"shift of nonsense", [](auto& r) { r.own.rq_wqe_shift = 77; }, -EINVAL},
      {"buffer not mapped", [](auto& r) { r.own.buf_addr = kUnmapped; }, -EFAULT},
      {"dbrec not mapped", [](auto& r) { r.own.db_addr = kUnmapped; }, -EFAULT},
      {"dbrec misaligned", [](auto& r) { r.own.db_addr += 2; }, -EINVAL},
      {"too many SGEs", [](auto& r) { r.cap.max_send_sge = 31; }, -EINVAL},
      {"too many WRs", [](auto& r) { r.cap.max_send_wr = 1u << 16; }, -EINVAL},
      {"separate send buffer", [](auto& r) { r.own.sq_buf_addr = 4096; }, -EINVAL},
  };
  for (const auto& row : rows) {
    auto request = good;
    row.spoil(request);
    EXPECT_EQ(nic.create_qp(request).result, row.expected) << row.what;
  }
  EXPECT_EQ(nic.engine->device(0).qps.count(), 0u);
}

// Receive ring first, send ring right behind it: as libmlx5 lays them out.
TEST(CreateQp, FindsTheRings) {
  Nic nic;
  const auto request = nic.good_qp();
  const auto qp = nic.create_qp(request);
  ASSERT_EQ(qp.result, 0);
  const Qp* const made = nic.engine->device(0).qps.find(qp.number);
  ASSERT_NE(made, nullptr);
  const auto* const base = reinterpret_cast<std::byte*>(request.own.buf_addr);
  EXPECT_EQ(made->config.rq.base, base);
  EXPECT_EQ(made->config.rq.stride_bytes, 16u);
  EXPECT_EQ(made->config.sq.base, base + 16 * 16);
  EXPECT_EQ(made->config.sq.wqebbs, 64u);
  EXPECT_EQ(made->config.user_index, 0x1234u);
  EXPECT_EQ(made->config.uar_page, nic.uar_number);
}

TEST(CreateQp, HoldsItsDomainAndItsPage) {
  Nic nic;
  const auto request = nic.good_qp();
  const auto qp = nic.create_qp(request);
  ASSERT_EQ(qp.result, 0);
  EXPECT_EQ(nic.destroy_pd(request.pd), -EBUSY);
  EXPECT_EQ(nic.destroy_uar(nic.uar_handle), -EBUSY);
  EXPECT_EQ(nic.destroy_qp(qp.handle), 0);
  EXPECT_EQ(nic.destroy_uar(nic.uar_handle), 0);
  EXPECT_EQ(nic.destroy_pd(request.pd), 0);
}

// SQ only: legal, and how a one-sided QP is made through verbs.
TEST(CreateQp, DoesWithoutAReceiveRing) {
  Nic nic;
  auto request = nic.good_qp();
  request.own.rq_wqe_count = 0;
  request.own.rq_wqe_shift = 0;
  const auto qp = nic.create_qp(request);
  ASSERT_EQ(qp.result, 0);
  const Qp* const made = nic.engine->device(0).qps.find(qp.number);
  EXPECT_EQ(made->config.rq.entries, 0u);
  EXPECT_EQ(made->config.sq.base, reinterpret_cast<std::byte*>(request.own.buf_addr));
}

// One context's handles mean nothing in another's.
TEST(CreateQp, ForeignHandlesAreUnknown) {
  Nic nic;
  const auto request = nic.good_qp();
  auto first = std::make_unique<File>(*nic.engine, 0, nic.pages);
  first.swap(nic.file);
  ASSERT_EQ(nic.get_context(), 0);
  EXPECT_EQ(nic.create_qp(request).result, -ENOENT);
}

}  // namespace
}  // namespace marrow::cx7
