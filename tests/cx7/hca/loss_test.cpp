// SPDX-License-Identifier: Apache-2.0
// A peer that is not there: retries are counted and end in an error, never in a wait.
#include <gmock/gmock.h>

#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

TEST(Loss, PathThatLeadsNowhereEndsInRetryExceeded) {
  auto attributes = kUsual;
  attributes.retry_count = 2;
  TwoSides nic(Checking::kStrict, attributes);
  nic.a.qp->attributes.remote_device = kNoDevice;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  nic.run_for(std::chrono::milliseconds(700));
  EXPECT_EQ(nic.a.poll(), nullptr) << "three intervals of 268 ms are not over";
  nic.run_for(std::chrono::milliseconds(200));
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRetryExceeded);
  cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kFlushed);
  EXPECT_EQ(nic.a.device.counters.timeouts, 3u);
}

TEST(Loss, QpThatIsGoneEndsInRetryExceeded) {
  auto attributes = kUsual;
  attributes.retry_count = 0;
  TwoSides nic(Checking::kStrict, attributes);
  {
    const Engine::Lock lock(nic.engine);
    nic.engine.remove_qp(nic.b.device, *nic.b.qp);
  }
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  nic.run_for(std::chrono::milliseconds(400));
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRetryExceeded);
}

// The peer answers only from the second retry on: everything arrives once, in order.
TEST(Loss, LatePeerIsServedByRetransmission) {
  TwoSides nic;
  nic.b.qp->state = QpState::kInit;  // drops what arrives
  std::memset(nic.a.buffer.data, 0x77, 5000);
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 5000));
  nic.a.put(wire::atomic_wqe(nic.a.next(), nic.b.remote(8192), nic.a.local(8192), {.swap_add = 1}));
  nic.a.announce();
  nic.run_for(std::chrono::milliseconds(300));
  nic.b.qp->state = QpState::kRts;
  nic.run_for(std::chrono::milliseconds(600));
  const auto* cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_FALSE(cqe->is_error());
  cqe = nic.a.poll();
  ASSERT_NE(cqe, nullptr);
  EXPECT_FALSE(cqe->is_error());
  EXPECT_EQ(std::memcmp(nic.a.buffer.data, nic.b.buffer.data, 5000), 0);
  std::uint64_t counter = 0;
  std::memcpy(&counter, nic.b.buffer.data + 8192, 8);
  EXPECT_EQ(counter, 1u) << "an atomic sent twice is executed once";
}

}  // namespace
}  // namespace marrow::cx7::test
