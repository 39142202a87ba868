// SPDX-License-Identifier: Apache-2.0
// A process may close the device, or die, with everything alive: nothing of it may stay.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cx7/abi/nic.h"

namespace marrow::cx7 {
namespace {

struct Counts {
  std::uint32_t pds, mkeys, cqs, qps;
  std::size_t uars;
  bool operator==(const Counts&) const = default;
};

Counts counts_of(Engine& engine) {
  auto& device = engine.device(0);
  return {device.pds.count(), device.mkeys.count(), device.cqs.count(), device.qps.count(), device.uars.size()};
}

void make_everything(Nic& nic) {
  const int channel = nic.comp_channel();
  auto cq = nic.good_cq();
  cq.channel = channel;
  ASSERT_EQ(nic.create_cq(cq).result, 0);
  const auto request = nic.good_qp();
  ASSERT_EQ(nic.create_qp(request).result, 0);
  ASSERT_EQ(nic.create_qp(request).result, 0);
  ASSERT_EQ(nic.reg_mr({.pd = request.pd, .start = nic.memory.address(), .bytes = 4096}).result, 0);
  ASSERT_EQ(nic.alloc_uar().result, 0);
  ASSERT_GE(nic.async_events(), 0);
}

TEST(Lifetime, ClosingWithEverythingAliveLeavesNothing) {
  Nic nic;
  make_everything(nic);
  EXPECT_EQ(nic.pages.taken.size(), 2u);
  nic.file.reset();
  EXPECT_EQ(counts_of(*nic.engine), (Counts{0, 0, 0, 0, 0}));
  EXPECT_TRUE(nic.pages.taken.empty()) << "doorbell pages must go back";
  EXPECT_FALSE(nic.engine->step(Time{1})) << "and the engine finds nothing to do";
}

TEST(Lifetime, TwoFilesOfOneDeviceDoNotTouchEachOther) {
  Nic nic;
  make_everything(nic);
  const auto before = counts_of(*nic.engine);
  {
    auto second = std::make_unique<File>(*nic.engine, 0, nic.pages);
    second.swap(nic.file);
    ASSERT_EQ(nic.get_context(), 0);
    nic.uar_number = nic.alloc_uar().number;
    make_everything(nic);
    second.swap(nic.file);
  }
  EXPECT_EQ(counts_of(*nic.engine), before);
}

// The same objects again and again: no number, page or descriptor is lost on the way.
TEST(Lifetime, ObjectsComeAndGo) {
  Nic nic;
  const auto before = counts_of(*nic.engine);
  for (int i = 0; i < 300; ++i) {
    const auto request = nic.good_qp();
    const auto qp = nic.create_qp(request);
    ASSERT_EQ(qp.result, 0);
    ASSERT_EQ(nic.destroy_qp(qp.handle), 0);
    ASSERT_EQ(nic.destroy_cq(request.send_cq), 0);
    ASSERT_EQ(nic.destroy_pd(request.pd), 0);
  }
  EXPECT_EQ(counts_of(*nic.engine), before);
}

// A reply that cannot be delivered takes its object back.
TEST(Lifetime, AFailedReplyLeavesNoObject) {
  Nic nic;
  const std::uint64_t in = 0;
  const auto before = counts_of(*nic.engine);
  EXPECT_EQ(invoke_write(*nic.file, IB_USER_VERBS_CMD_ALLOC_PD,
                         {.core_in = bytes_of(in),
                          .core_out = {reinterpret_cast<std::byte*>(kUnmapped), 4},
                          .own_in = {},
                          .own_out = {}}),
            -EFAULT);
  EXPECT_EQ(counts_of(*nic.engine), before);
}

TEST(Lifetime, ObjectLimitsAreErrorsNotCrashes) {
  Nic nic;
  const auto pd = nic.alloc_pd();
  const MrRequest request{.pd = pd.handle, .start = nic.memory.address(), .bytes = 64};
  std::uint32_t made = 0;
  while (nic.reg_mr(request).result == 0) ++made;
  EXPECT_EQ(made, Table<Mkey>::kEntries - Table<Mkey>::kFirst);
  EXPECT_EQ(nic.reg_mr(request).result, -ENOMEM);
}

// ioctls come from any thread while the engine runs: calls take turns, and nothing is lost between them.
TEST(Lifetime, CallsComeFromManyThreadsWhileTheEngineRuns) {
  Nic nic;
  const auto before = counts_of(*nic.engine);
  std::atomic<bool> done{false};
  std::thread engine([&] {
    for (Time now{0}; !done; now += Time{1000}) nic.engine->step(now);
  });
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&nic] {
      for (int i = 0; i < 100; ++i) {
        const auto pd = nic.alloc_pd();
        const auto mr = nic.reg_mr({.pd = pd.handle, .start = nic.memory.address(0x80000), .bytes = 4096});
        const auto cq = nic.create_cq(nic.good_cq());
        EXPECT_EQ(nic.destroy_cq(cq.handle), 0);
        EXPECT_EQ(nic.destroy_mr(mr.handle), 0);
        EXPECT_EQ(nic.destroy_pd(pd.handle), 0);
      }
    });
  }
  for (auto& caller : callers) caller.join();
  done = true;
  engine.join();
  EXPECT_EQ(counts_of(*nic.engine), before);
}

}  // namespace
}  // namespace marrow::cx7
