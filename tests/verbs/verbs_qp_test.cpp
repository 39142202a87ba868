// SPDX-License-Identifier: Apache-2.0
// The baseline: libmlx5's own queue on the software NIC, connected with the same addresses as a DEVX queue.
#include "verbs/verbs_qp.h"

#include <gtest/gtest.h>

#include <cstring>

#include "util/clock.h"
#include "util/error.h"
#include "verbs/endpoint.h"

namespace marrow::verbs {
namespace {

class VerbsQueue : public ::testing::Test {
 protected:
  ibv_wc_status put(std::uint32_t rkey, std::uint32_t bytes, unsigned flags) {
    ibv_sge from{.addr = a().local().addr, .length = bytes, .lkey = a().local().lkey};
    ibv_send_wr wr{};
    ibv_send_wr* bad = nullptr;
    wr.sg_list = &from;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED | flags;
    wr.wr.rdma.remote_addr = b().remote().addr;
    wr.wr.rdma.rkey = rkey;
    EXPECT_EQ(ibv_post_send(a().queue.get(), &wr, &bad), 0);
    ibv_wc wc{};
    const auto end = util::now() + std::chrono::seconds(5);
    while (util::now() < end) {
      if (ibv_poll_cq(a().queue.cq(), 1, &wc) == 1) return wc.status;
    }
    ADD_FAILURE() << "no completion";
    return IBV_WC_GENERAL_ERR;
  }
  VerbsEndpoint& a() { return *pair_.a; }
  VerbsEndpoint& b() { return *pair_.b; }

  PairOf<VerbsQp> pair_ = pair_of_endpoints<VerbsQp>({.devices = {"mlx5_sim0", "mlx5_sim1"}});
};

TEST_F(VerbsQueue, RefusesAWrongRkey) {
  EXPECT_EQ(put(b().remote().rkey ^ 0x100, 8, 0), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(b().data()[0], std::byte{});
}

TEST_F(VerbsQueue, WritesInlineAndByPointer) {
  std::memset(a().data(), 0x41, 8);
  ASSERT_EQ(put(b().remote().rkey, 8, IBV_SEND_INLINE), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(a().data(), b().data(), 8), 0);
  std::memset(a().data(), 0x42, 30'000);
  ASSERT_EQ(put(b().remote().rkey, 30'000, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(a().data(), b().data(), 30'000), 0);
}

}  // namespace
}  // namespace marrow::verbs
