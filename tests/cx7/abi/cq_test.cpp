// SPDX-License-Identifier: Apache-2.0
// Completion queues of the verbs: what is refused, and the size that libmlx5 derives its owner bit from.
#include <gtest/gtest.h>
#include <unistd.h>

#include "cx7/abi/nic.h"

namespace marrow::cx7 {
namespace {

TEST(CreateCq, RefusesWhatItCannotBe) {
  Nic nic;
  struct Row {
    const char* what;
    void (*spoil)(CqRequest&);
    int expected;
  };
  const Row rows[] = {
      {"no entries", [](auto& r) { r.cqe = 0; }, -EINVAL},
      {"too many entries", [](auto& r) { r.cqe = 1u << 22; }, -EINVAL},
      {"no such vector", [](auto& r) { r.vector = 1; }, -EINVAL},
      {"timestamps", [](auto& r) { r.flags = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION; }, -EOPNOTSUPP},
      {"unknown flag", [](auto& r) { r.flags = 1u << 7; }, -EOPNOTSUPP},
      {"odd entry size", [](auto& r) { r.own.cqe_size = 96; }, -EINVAL},
      {"compression", [](auto& r) { r.own.cqe_comp_en = 1; }, -EOPNOTSUPP},
      {"padding flag", [](auto& r) { r.own.flags |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD; }, -EOPNOTSUPP},
      {"no UAR page named", [](auto& r) { r.own.flags = 0; }, -EOPNOTSUPP},
      {"a UAR page of somebody else", [](auto& r) { r.own.uar_page_index = 60; }, -EINVAL},
      {"reserved field", [](auto& r) { r.own.reserved1 = 1; }, -EINVAL},
      {"buffer not mapped", [](auto& r) { r.own.buf_addr = kUnmapped; }, -EFAULT},
      {"dbrec not mapped", [](auto& r) { r.own.db_addr = kUnmapped; }, -EFAULT},
      {"dbrec misaligned", [](auto& r) { r.own.db_addr += 4; }, -EINVAL},
      {"channel that is no channel", [](auto& r) { r.channel = STDERR_FILENO; }, -EBADF},
  };
  for (const auto& row : rows) {
    auto request = nic.good_cq();
    row.spoil(request);
    EXPECT_EQ(nic.create_cq(request).result, row.expected) << row.what;
  }
  EXPECT_EQ(nic.engine->device(0).cqs.count(), 0u);
}

// The device must wrap where the library wraps.
TEST(CreateCq, RoundsUpToAPowerOfTwo) {
  Nic nic;
  struct Row {
    std::uint32_t asked;
    std::uint32_t log_entries;
  };
  for (const auto& row : {Row{1, 1}, Row{7, 3}, Row{8, 4}, Row{100, 7}, Row{127, 7}, Row{128, 8}}) {
    auto request = nic.good_cq();
    request.cqe = row.asked;
    const auto cq = nic.create_cq(request);
    ASSERT_EQ(cq.result, 0);
    EXPECT_EQ(nic.engine->device(0).cqs.find(cq.number)->log_entries, row.log_entries) << row.asked;
  }
}

TEST(CreateCq, TakesOverrunIgnoreAndBothEntrySizes) {
  Nic nic;
  auto request = nic.good_cq();
  request.flags = IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
  request.own.cqe_size = 128;
  const auto cq = nic.create_cq(request);
  ASSERT_EQ(cq.result, 0);
  const Cq* const made = nic.engine->device(0).cqs.find(cq.number);
  EXPECT_TRUE(made->overrun_ignore);
  EXPECT_EQ(made->entry_bytes, 128u);
  EXPECT_FALSE(made->has_channel);
}

TEST(DestroyCq, IsRefusedWhileAQpUsesIt) {
  Nic nic;
  const auto request = nic.good_qp();
  const auto qp = nic.create_qp(request);
  ASSERT_EQ(qp.result, 0);
  EXPECT_EQ(nic.destroy_cq(request.send_cq), -EBUSY);
  EXPECT_EQ(nic.destroy_qp(qp.handle), 0);
  EXPECT_EQ(nic.destroy_cq(request.send_cq), 0);
}

}  // namespace
}  // namespace marrow::cx7
