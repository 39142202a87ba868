// SPDX-License-Identifier: Apache-2.0
// Workers on the software NIC: bytes arrive, signals are counted, a refused write and a broken connection reach the
// lane by their names, stopping under load is clean.
#include <gmock/gmock.h>

#include <cstring>
#include <thread>

#include "proxy/allocations.h"
#include "proxy/nic/two_ends.h"
#include "verbs/simulated_nic.h"

namespace marrow::proxy::testing {
namespace {

using gda::Status;
constexpr std::size_t kBytes = 1 << 20;

/// Wide enough that Tuned's payload is there: it was stored long before workers start.
void fill(std::byte* at, std::size_t bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<std::byte>((i * 7 + seed) * 2654435761u >> 13);
}

TEST(OnTheNic, ABadRemoteKeyIsTheLanesStatusAndItsPeerIsUntouched) {
  const auto options = crowded(1, 4);
  TwoEnds ends(options, kBytes);
  auto table = ends.here.table();
  table.routes.push_back(table.routes[0]);
  table.routes[1].to.rkey ^= 0x100;
  Rings<Tuned> rings(2);
  Workers<Tuned> workers(options, table, rings.list);
  workers.start();
  std::memset(ends.a.data(), 0x41, 64);
  Producer<Tuned> lane(rings.ring(0)), other(rings.ring(1));
  EXPECT_EQ(lane.wait(lane.put({.bytes = 8})), Status::kOk);
  EXPECT_EQ(lane.wait(lane.put({.route = 1, .to = 64, .bytes = 8})), Status::kRemoteAccess);
  EXPECT_EQ(lane.wait(lane.put({.to = 64, .bytes = 8})), Status::kRemoteAccess) << "behind a failure";
  EXPECT_EQ(other.wait(other.put({.to = 64, .bytes = 8})), Status::kFlushed) << "the same queue pair";
  EXPECT_EQ(ends.b.data()[64], std::byte{});
}

TEST(OnTheNic, ABadLocalKeyIsTheLanesStatus) {
  const auto options = crowded(1, 1);
  TwoEnds ends(options, kBytes);
  auto table = ends.here.table();
  table.routes[0].from.lkey ^= 0x100;
  Rings<Tuned> rings(1);
  Workers<Tuned> workers(options, table, rings.list);
  workers.start();
  Producer<Tuned> lane(rings.ring(0));
  EXPECT_EQ(lane.wait(lane.put({.bytes = 8})), Status::kLocalProtection);
}

TEST(OnTheNic, APeerWhoseQueuePairIsGoneEndsInRetriesExceededAndStopIsClean) {
  const auto options = crowded(1, 4);
  TwoEnds ends(options, kBytes);
  Rings<Tuned> rings(1);
  Workers<Tuned> workers(options, ends.here.table(), rings.list);
  workers.start();
  Producer<Tuned> lane(rings.ring(0));
  ASSERT_EQ(lane.wait(lane.put({.bytes = 8})), Status::kOk);
  ibv_qp_attr to_error{};
  to_error.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(ends.there.queue(0, 0).get(), &to_error, IBV_QP_STATE), 0);
  const auto start = util::now();
  EXPECT_EQ(lane.wait(lane.put({.bytes = 8})), Status::kRetryExceeded);
  workers.stop();
  EXPECT_LT(util::now() - start, std::chrono::seconds(10));
}

template <class H>
class EveryHandOff : public ::testing::Test {};
TYPED_TEST_SUITE(EveryHandOff, AllHandOffs, NameOf);

TYPED_TEST(EveryHandOff, BytesOfAllSizesArriveAndNothingElseIsTouched) {
  const auto options = crowded(2, 8);
  TwoEnds ends(options, kBytes);
  fill(ends.a.data(), kBytes, 1);
  Rings<TypeParam> rings(2, 16);
  Workers<TypeParam> workers(options, ends.here.table(), rings.list);
  workers.start();
  Producer<TypeParam> lanes[2] = {Producer<TypeParam>(rings.ring(0)), Producer<TypeParam>(rings.ring(1))};
  std::vector<std::byte> expected(kBytes);
  std::uint64_t at = 0;
  Ticket last[2];
  for (std::uint32_t i = 0; at + 20'000 < kBytes; ++i) {
    const std::uint32_t bytes = i * 977 % 19'000 + (i % 3 == 0 ? 0 : 1);
    last[i % 2] = lanes[i % 2].put({.from = at, .to = at, .bytes = bytes});
    ASSERT_EQ(last[i % 2].status, Status::kOk);
    std::memcpy(&expected[at], ends.a.data() + at, bytes);
    at += bytes + i % 5;
  }
  for (int i = 0; i < 2; ++i) ASSERT_EQ(lanes[i].wait(last[i]), Status::kOk);
  workers.stop();
  EXPECT_EQ(std::memcmp(expected.data(), ends.b.data(), kBytes), 0);
}

TEST(OnTheNic, SignalsAreCountedBehindTheirPayload) {
  const auto options = crowded(1, 8);
  TwoEnds ends(options, kBytes);
  Rings<Tuned> rings(1);
  Workers<Tuned> workers(options, ends.here.table(), rings.list);
  workers.start();
  Producer<Tuned> lane(rings.ring(0));
  auto* const source = reinterpret_cast<std::uint64_t*>(ends.a.data());
  auto* const target = reinterpret_cast<std::uint64_t*>(ends.b.data());
  for (std::uint64_t i = 0; i < 500; ++i) source[i] = i + 1;
  std::thread receiver([&] {
    for (std::uint64_t i = 0; i < 500; ++i) {
      const auto limit = util::now() + std::chrono::seconds(20);
      while (ends.b.signal(3) <= i && util::now() < limit) std::this_thread::yield();
      EXPECT_EQ(std::atomic_ref(target[i]).load(), i + 1);
    }
  });
  for (std::uint64_t i = 0; i < 500; ++i) {
    ASSERT_EQ(lane.put_signal({.from = 8 * i, .to = 8 * i, .bytes = 8}, 3).status, Status::kOk);
  }
  receiver.join();
  EXPECT_EQ(ends.b.signal(3), 500u);
  EXPECT_EQ(lane.wait(lane.flush(0, FlushScope::kAllPeers)), Status::kOk);
}

TEST(OnTheNic, ABusyWorkerAllocatesNothing) {
  const auto options = crowded(1, 8);
  TwoEnds ends(options, kBytes);
  Rings<Tuned> rings(1);
  const auto table = ends.here.table();
  Worker<Tuned> worker({.options = options, .routes = table, .number = 0, .rings = rings.list});
  Producer<Tuned> lane(rings.ring(0));
  const auto before = allocations_of_this_thread();
  std::uint64_t wrong = 0;
  const auto limit = util::now() + std::chrono::seconds(20);
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    const auto ticket = i % 4 == 0 ? lane.put_signal({.bytes = 64}, 1) : lane.put({.bytes = 64});
    wrong += ticket.status != Status::kOk;
    while (Progress::from_word(*rings.ring(0).done).completed + 16 < ticket.end && util::now() < limit) worker.round();
  }
  EXPECT_EQ(allocations_of_this_thread(), before);
  EXPECT_EQ(wrong, 0u);
  worker.drain();
}

TEST(OnTheNic, StopUnderLoadTellsEveryLaneAndWhatWasDoneIsThere) {
  const auto options = crowded(2, 4);
  TwoEnds ends(options, kBytes);
  Rings<Tuned> rings(4, 16);
  Workers<Tuned> workers(options, ends.here.table(), rings.list);
  workers.start();
  std::vector<std::thread> lanes;
  std::atomic<std::uint64_t> done{0}, wrong{0};
  for (std::uint32_t i = 0; i < 4; ++i) {
    lanes.emplace_back([&, i] {
      Producer<Tuned> lane(rings.ring(i));
      for (std::uint64_t n = 1;; ++n) {
        const auto status = lane.wait(lane.put_signal({.bytes = 32}, i));
        if (status == Status::kFlushed) {
          wrong += ends.b.signal(i) != n - 1;
          return;
        }
        wrong += status != Status::kOk;
        ++done;
      }
    });
  }
  while (done < 200) std::this_thread::yield();
  workers.stop();
  for (auto& lane : lanes) lane.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace marrow::proxy::testing
