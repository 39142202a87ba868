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

TEST(ResizeCq, RefusesWhatItCannotBeAndMovesTheRest) {
  Nic nic;
  const auto cq = nic.create_cq(nic.good_cq());
  ib_uverbs_resize_cq core{};
  core.cq_handle = cq.handle;
  mlx5_ib_resize_cq own{};
  ib_uverbs_resize_cq_resp resp{};
  const auto resize = [&](std::uint32_t cqe, std::uint64_t buffer, std::uint16_t entry_bytes) {
    core.cqe = cqe;
    own.buf_addr = buffer;
    own.cqe_size = entry_bytes;
    return invoke_write(*nic.file, IB_USER_VERBS_CMD_RESIZE_CQ,
                        {.core_in = {reinterpret_cast<const std::byte*>(&core), sizeof core},
                         .core_out = {reinterpret_cast<std::byte*>(&resp), sizeof resp},
                         .own_in = bytes_of(own),
                         .own_out = {}});
  };
  EXPECT_EQ(resize(0, nic.memory.address(0x80000), 64), -EINVAL);
  EXPECT_EQ(resize(31, kUnmapped, 64), -EFAULT);
  EXPECT_EQ(resize(31, nic.memory.address(0x80000), 128), -EINVAL) << "another entry size";
  ASSERT_EQ(resize(31, nic.memory.address(0x80000), 64), 0);
  EXPECT_EQ(resp.cqe, 31u);
  EXPECT_EQ(nic.engine->device(0).cqs.find(cq.number)->log_entries, 5u);
  EXPECT_EQ(nic.engine->device(0).cqs.find(cq.number)->entries, nic.memory.at(0x80000));
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
