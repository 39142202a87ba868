// SPDX-License-Identifier: Apache-2.0
// Shared receive queues: what is refused, where libmlx5 put the ring, limits, XRC domains.
#include <fcntl.h>
#include <gtest/gtest.h>

#include "cx7/abi/nic.h"
#include "util/fd.h"

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
    request.own.uidx = 0x55;
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
      {"XRC without a domain", [](auto& r) { r.type = IB_UVERBS_SRQT_XRC; }, -EINVAL},
      {"tag matching", [](auto& r) { r.type = IB_UVERBS_SRQT_TM; }, -EOPNOTSUPP},
      {"too many entries", [](auto& r) { r.entries = 1u << 20; }, -EINVAL},
      {"too many elements", [](auto& r) { r.sges = 32; }, -EINVAL},
      {"flags", [](auto& r) { r.own.flags = 1; }, -EOPNOTSUPP},
      {"buffer not mapped", [](auto& r) { r.own.buf_addr = kUnmapped; }, -EFAULT},
      {"record misaligned", [](auto& r) { r.own.db_addr += 2; }, -EINVAL},
      {"record not mapped", [](auto& r) { r.own.db_addr = kUnmapped; }, -EFAULT},
      {"no such PD", [](auto& r) { r.pd = 999; }, -ENOENT},
  };
  for (const auto& row : rows) {
    auto request = good();
    row.spoil(request);
    EXPECT_EQ(create(request).result, row.expected) << row.what;
  }
}

TEST_F(Srq, FindsTheRing) {
  auto request = good();
  request.entries = 7;
  request.sges = 3;
  request.limit = 4;
  const auto srq = create(request);
  ASSERT_EQ(srq.result, 0);
  const cx7::Srq* const made = nic.engine->device(0).srqs.find(srq.number);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->entries, 8u) << "one more than the kernel is told of";
  EXPECT_EQ(made->stride_bytes, 64u);
  EXPECT_EQ(made->limit, 4u);
  EXPECT_EQ(reinterpret_cast<std::uint64_t>(made->base), request.own.buf_addr);
}

TEST_F(Srq, TakesALimitAndNoNewSize) {
  const auto srq = create(good());
  ib_uverbs_modify_srq request{};
  request.srq_handle = srq.handle;
  request.max_wr = 4;
  const auto modify = [&](std::uint32_t mask, std::uint32_t limit) {
    request.attr_mask = mask;
    request.srq_limit = limit;
    return invoke_write(*nic.file, IB_USER_VERBS_CMD_MODIFY_SRQ,
                        {.core_in = bytes_of(request), .core_out = {}, .own_in = {}, .own_out = {}});
  };
  EXPECT_EQ(modify(1, 0), -EINVAL) << "no resizing";
  EXPECT_EQ(modify(2, 2), -EINVAL) << "more than the SRQ has";
  EXPECT_EQ(modify(2, 1), 0);
  EXPECT_EQ(nic.engine->device(0).srqs.find(srq.number)->limit, 1u);
}

TEST_F(Srq, XrcDomainOutlivesItsUsers) {
  ib_uverbs_open_xrcd request{};
  std::uint32_t xrcd = 0;
  const auto open = [&](int fd, int flags) {
    request.fd = static_cast<std::uint32_t>(fd);
    request.oflags = static_cast<std::uint32_t>(flags);
    return invoke_write(*nic.file, IB_USER_VERBS_CMD_OPEN_XRCD,
                        {.core_in = bytes_of(request), .core_out = room_of(xrcd), .own_in = {}, .own_out = {}});
  };
  const util::UniqueFd file(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  ASSERT_TRUE(file);
  EXPECT_EQ(open(file.get(), 0), -EAGAIN) << "nobody has made it";
  EXPECT_EQ(open(987, O_CREAT), -EBADF);
  EXPECT_EQ(open(-1, O_RDWR), -EINVAL);
  ASSERT_EQ(open(file.get(), O_CREAT), 0);
  const auto first = xrcd;
  EXPECT_EQ(open(file.get(), O_CREAT | O_EXCL), -EINVAL) << "it is there already";
  ASSERT_EQ(open(file.get(), O_CREAT), 0);
  const auto destroy = [&](std::uint32_t handle) {
    return nic.destroy(UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, UVERBS_ATTR_DESTROY_XRCD_HANDLE, handle);
  };
  EXPECT_EQ(destroy(first), 0);
  EXPECT_EQ(destroy(first), -ENOENT);
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
