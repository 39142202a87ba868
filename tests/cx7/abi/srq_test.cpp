// SPDX-License-Identifier: Apache-2.0
// Shared receive queues, as far as a DCT needs them.
#include <gtest/gtest.h>

#include "cx7/abi/nic.h"

namespace marrow::cx7 {
namespace {

struct SrqRequest {
  std::uint32_t pd = 0;
  std::uint32_t entries = 1;
  std::uint32_t sges = 1;
  std::uint32_t limit = 0;
  std::uint32_t type = IB_UVERBS_SRQT_BASIC;
  mlx5_ib_create_srq own{};
};

class Srq : public testing::Test {
 protected:
  SrqRequest good() {
    SrqRequest request;
    request.pd = pd.handle;
    request.own.buf_addr = reinterpret_cast<std::uint64_t>(nic.memory.at(0));
    request.own.db_addr = request.own.buf_addr + 4096;
    return request;
  }
  Made create(const SrqRequest& request) {
    const std::uint64_t user_handle = 0x77;
    std::uint32_t entries = 0;
    std::uint32_t sges = 0;
    mlx5_ib_create_srq_resp resp{};
    Call call(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
    call.handle(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0)
        .handle(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, request.pd)
        .in(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, user_handle)
        .in(UVERBS_ATTR_CREATE_SRQ_MAX_WR, request.entries)
        .in(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, request.sges)
        .in(UVERBS_ATTR_CREATE_SRQ_LIMIT, request.limit)
        .in(UVERBS_ATTR_CREATE_SRQ_TYPE, request.type)
        .out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, entries)
        .out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, sges)
        .in(UVERBS_ATTR_UHW_IN, request.own)
        .out(UVERBS_ATTR_UHW_OUT, resp);
    const int result = call(*nic.file);
    return {result, call.handle_of(UVERBS_ATTR_CREATE_SRQ_HANDLE), resp.srqn};
  }
  int destroy(std::uint32_t handle) {
    ib_uverbs_destroy_srq_resp resp{};
    return Call(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY)
        .handle(UVERBS_ATTR_DESTROY_SRQ_HANDLE, handle)
        .out(UVERBS_ATTR_DESTROY_SRQ_RESP, resp)(*nic.file);
  }

  Nic nic;
  Made pd = nic.alloc_pd();
};

TEST_F(Srq, RefusesWhatItCannotBe) {
  struct Row {
    const char* what;
    void (*spoil)(SrqRequest&);
    int expected;
  };
  const Row rows[] = {
      {"XRC", [](auto& r) { r.type = IB_UVERBS_SRQT_XRC; }, -EOPNOTSUPP},
      {"tag matching", [](auto& r) { r.type = IB_UVERBS_SRQT_TM; }, -EOPNOTSUPP},
      {"no entries", [](auto& r) { r.entries = 0; }, -EINVAL},
      {"too many entries", [](auto& r) { r.entries = 1u << 20; }, -EINVAL},
      {"too many elements", [](auto& r) { r.sges = 31; }, -EINVAL},
      {"a limit, whose event would never come", [](auto& r) { r.limit = 1; }, -EOPNOTSUPP},
      {"flags", [](auto& r) { r.own.flags = 1; }, -EOPNOTSUPP},
      {"buffer not mapped", [](auto& r) { r.own.buf_addr = kUnmapped; }, -EFAULT},
      {"record not mapped", [](auto& r) { r.own.db_addr = kUnmapped; }, -EFAULT},
      {"no such PD", [](auto& r) { r.pd = 999; }, -ENOENT},
  };
  for (const auto& row : rows) {
    auto request = good();
    row.spoil(request);
    EXPECT_EQ(create(request).result, row.expected) << row.what;
  }
}

TEST_F(Srq, KeepsItsPdAndGoesOnce) {
  const auto srq = create(good());
  ASSERT_EQ(srq.result, 0);
  EXPECT_NE(srq.number, 0u);
  EXPECT_EQ(nic.destroy_pd(pd.handle), -EBUSY);
  EXPECT_EQ(destroy(srq.handle), 0);
  EXPECT_EQ(destroy(srq.handle), -ENOENT);
  EXPECT_EQ(nic.destroy_pd(pd.handle), 0);
}

}  // namespace
}  // namespace marrow::cx7
