// SPDX-License-Identifier: Apache-2.0
// Several lanes in threads of their own on one queue, and the NIC in another: nothing is lost, doubled or torn, past
// two turns of the 16-bit index from just below its wrap. Clean under TSan, which is what it is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "gda/fake_nic.h"
#include "marrow/gda/dump.h"
#include "marrow/gda/host_ringer.h"
#include "marrow/gda/shared_queue.h"

namespace marrow::gda {
namespace {

using testing::IsEmpty;

constexpr std::uint32_t kLanes = 3;
constexpr std::uint32_t kMaxWqes = 16;

/// A NIC that works until it is told to stop.
class Engine {
 public:
  explicit Engine(FakeNic& nic)
      : thread_([this, &nic] {
          while (!stop_) {
            if (nic.step() == 0) std::this_thread::sleep_for(std::chrono::microseconds(1));
          }
        }) {}
  ~Engine() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

/// What a lane writes to: its own words, so that the last value of each tells whether all arrived in order.
struct alignas(64) Target {
  std::uint64_t words[kMaxWqes] = {};
};

/// A schedule by a seed: between any two steps of reserve, write, record and ring a lane may lose its core.
struct PausingProbe : NoProbe {
  void on_wqe(std::uint32_t /*ds*/) { maybe_pause(); }
  void on_fence(FenceKind) { maybe_pause(); }
  void on_dbrec(StoreKind) { maybe_pause(); }
  void on_doorbell(StoreKind) { maybe_pause(); }
  void on_atomic() { maybe_pause(); }
  void on_stage(Stage) { maybe_pause(); }

 private:
  void maybe_pause() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const auto dice = state_ >> 58;  // of 64
    if (dice == 0) std::this_thread::sleep_for(std::chrono::microseconds(state_ >> 40 & 0x3f));
    if (dice == 1) std::this_thread::yield();
  }
  static inline std::atomic<std::uint64_t> lanes_ = 0;  // each lane its own schedule
  std::uint64_t state_ = ++lanes_;
};

template <class P, class Probe>
void run_lane(FakeNic& nic, const Qp& qp, Target& target, std::uint64_t operations) {
  SendQueue<P, Probe> sq{qp};
  const Solo team;
  Result last;
  std::uint64_t done = 0;
  for (std::uint64_t round = 1; done < operations && last.ok(); ++round) {
    const auto wqes = static_cast<std::uint32_t>(round % kMaxWqes + 1);
    const auto slots = sq.reserve(team, wqes);
    for (std::uint32_t i = 0; i < wqes; ++i) sq.write_value(slots[i], nic.remote(target.words[i]), done + i + 1);
    done += wqes;
    const auto ticket = sq.submit(team, slots, round % 3 == 0 ? More::kNo : More::kYes);
    if (ticket.status != Status::kOk || round % 5 == 0 || done >= operations) last = sq.wait(team, ticket);
  }
  ASSERT_TRUE(last.ok()) << P::name << ": " << format_result(last) << "\n" << format_dump(sq.dump());
  std::uint64_t newest = 0;
  for (const auto word : target.words) newest = std::max(newest, word);
  EXPECT_EQ(newest, done) << P::name;
}

template <class P, class Probe = NoProbe>
void run_lanes(FakeNic& nic, const Qp& qp, std::uint64_t operations) {
  std::vector<Target> targets(kLanes);
  const auto first = nic.counters().shared.reserved;
  {
    std::vector<std::thread> lanes;
    for (auto& target : targets) {
      lanes.emplace_back(
          [&nic, &qp, &target, operations] { run_lane<P, Probe>(nic, qp, target, operations / kLanes); });
    }
    for (auto& lane : lanes) lane.join();
  }
  SendQueue<P> sq{qp};
  EXPECT_TRUE(sq.drain(Solo{}).ok());
  const auto& s = nic.counters().shared;
  EXPECT_GE(s.ready - first, operations);
  EXPECT_EQ(s.reserved, s.ready);
  EXPECT_EQ(s.ci, s.ready) << "every WQEBB is accounted for";
}

template <class P, class Probe = NoProbe>
void share(CqLayout layout, std::uint64_t operations) {
  FakeNic nic({.sq_wqebbs = 64, .layout = layout, .start = 65'500, .timeout_ns = 30'000'000'000});
  {
    Engine engine(nic);
    run_lanes<P, Probe>(nic, nic.qp(), operations);
  }
  EXPECT_THAT(nic.complaints(), IsEmpty()) << P::name;
}

constexpr std::uint64_t kTwoTurns = 2 * 65'536 + 1000;
constexpr std::uint64_t kSome = 6000;

TEST(SharingThreads, TwoTurnsByCompareAndSwap) {
  share<Shared<GpuFence>>(CqLayout::kCollapsed, kTwoTurns);
}
TEST(SharingThreads, TwoTurnsByReadyIndex) {
  share<Shared<GpuFence, Turn::kReadyIndex>>(CqLayout::kCollapsed, kTwoTurns);
}
TEST(SharingThreads, TwoTurnsRungInTurn) {
  share<Shared<GpuFence, Turn::kReadyIndex, PostLock::kTurn>>(CqLayout::kCollapsed, kTwoTurns);
}
TEST(SharingThreads, TwoTurnsUnderALock) {
  share<Locked<GpuFence>>(CqLayout::kCollapsed, kTwoTurns);
}
TEST(SharingThreads, TwoTurnsOnARingCq) {
  share<Shared<GpuFence>>(CqLayout::kRing, kTwoTurns);
}
TEST(SharingThreads, TwoTurnsByOwnEntry) {
  share<OwnEntry<Shared<GpuFence>>>(CqLayout::kRing, kTwoTurns);
}

TEST(SharingThreads, AnyScheduleBetweenReserveWriteAndRing) {
  share<Shared<GpuFence>, PausingProbe>(CqLayout::kCollapsed, kSome);
  share<Shared<GpuFence, Turn::kReadyIndex>, PausingProbe>(CqLayout::kCollapsed, kSome);
  share<Shared<GpuFence, Turn::kReadyIndex, PostLock::kTurn>, PausingProbe>(CqLayout::kCollapsed, kSome);
  share<Locked<GpuFence>, PausingProbe>(CqLayout::kCollapsed, kSome);
  share<OwnEntry<Shared<GpuFence>>, PausingProbe>(CqLayout::kRing, kSome);
}

TEST(SharingThreads, DoorbellsThatArePutOffAreNotForgotten) {
  share<Batch<Shared<GpuFence>, 0, PostWhen::kCaller>>(CqLayout::kCollapsed, kSome);
  share<Batch<Shared<GpuFence>, 32, PostWhen::kBoundary>>(CqLayout::kCollapsed, kSome);
  share<Batch<Shared<GpuFence>, 32, PostWhen::kBoundaryOrIdle>>(CqLayout::kCollapsed, kSome);
  share<Batch<OwnEntry<Shared<GpuFence, Turn::kReadyIndex>>, 32, PostWhen::kBoundaryOrIdle>>(CqLayout::kRing, kSome);
}

TEST(SharingThreads, EveryPromisingOrdering) {
  OrderingPolicies::for_each([]<class P>() {
    if constexpr (P::ordering != Ordering::kNone) {
      share<Shared<P>>(CqLayout::kCollapsed, kSome);
      share<SignalEvery<Batch<Locked<P>, 3>>>(CqLayout::kRing, kSome);
    }
  });
}

// WQEs of 1 to 4 WQEBBs: a lane that looks at the CQ reads sizes from WQEs that others are about to replace.
template <class P>
void share_long(CqLayout layout) {
  FakeNic nic({.sq_wqebbs = 16, .layout = layout, .start = 65'500, .timeout_ns = 30'000'000'000});
  struct Bytes {
    std::byte from[220], to[220];
  };
  std::vector<Bytes> memory(kLanes);
  {
    Engine engine(nic);
    std::vector<std::thread> lanes;
    for (auto& mine : memory) {
      lanes.emplace_back([&nic, &mine] {
        SendQueue<P> sq{nic.qp()};
        for (std::uint32_t round = 1; round < 2000; ++round) {
          const std::uint32_t bytes = round * 37 % 220 + 1;
          std::memset(mine.from, static_cast<int>(round % 251), bytes);
          const auto slots = sq.reserve(Solo{}, Room{1, inline_wqebbs<P>(bytes)});
          sq.write_inline(slots[0], nic.remote(mine.to), mine.from, bytes);
          const auto result = sq.wait(Solo{}, sq.submit(Solo{}, slots));
          ASSERT_TRUE(result.ok()) << format_result(result) << format_dump(sq.dump());
          ASSERT_EQ(std::memcmp(mine.from, mine.to, bytes), 0) << "complete means complete";
        }
      });
    }
    for (auto& lane : lanes) lane.join();
  }
  const auto& s = nic.counters().shared;
  EXPECT_EQ(s.ci, s.reserved) << "every WQEBB is accounted for";
  EXPECT_THAT(nic.complaints(), IsEmpty());
}
TEST(SharingThreads, LongWqesAreLookedAtInTurn) {
  share_long<Inline<Shared<GpuFence>, 220>>(CqLayout::kCollapsed);
  share_long<Inline<Locked<GpuFence>, 220>>(CqLayout::kCollapsed);
  share_long<Inline<Shared<GpuFence, Turn::kReadyIndex, PostLock::kTurn>, 220>>(CqLayout::kRing);
}

TEST(SharingThreads, TheEarlyDoorbellIsCoveredByTheSecond) {
  FakeNic nic({.sq_wqebbs = 64, .start = 65'500, .timeout_ns = 30'000'000'000, .needs_record = false});
  {
    Engine engine(nic);
    run_lanes<Rings<Shared<GpuFence>, DoorbellSequence::kEarly>>(nic, nic.qp(), kSome);
  }
  EXPECT_THAT(nic.complaints(), IsEmpty());
}

template <class P>
void forward(std::uint64_t operations) {
  FakeNic nic({.sq_wqebbs = 64, .start = 65'500, .timeout_ns = 30'000'000'000});
  std::uint64_t word = 65'500;
  Qp qp = nic.qp();
  HostRinger ringer;
  ringer.add(qp, word);
  qp.doorbell = &word;
  qp.doorbell_mapping = DoorbellMapping::kForwarded;
  {
    Engine engine(nic);
    ringer.start(HostRinger::Idle::kNap);
    run_lanes<P>(nic, qp, operations);
    ringer.stop();
  }
  EXPECT_THAT(nic.complaints(), IsEmpty()) << "the record came before each doorbell";
  EXPECT_GT(ringer.rung(), 0u);
  EXPECT_EQ(ringer.refused(), 0u);
}
TEST(SharingThreads, AHostThreadRingsForAll) {
  forward<Forwarded<Shared<GpuFence>>>(kSome);
  forward<Forwarded<Locked<GpuFence>>>(kSome);
  forward<Forwarded<Batch<Shared<GpuFence, Turn::kReadyIndex, PostLock::kNone>, 32, PostWhen::kBoundary>>>(kSome);
}

// One WQE fails while all lanes post: each ends with that error, and in time.
TEST(SharingThreads, AFailureEndsEveryLane) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    FakeNic nic({.sq_wqebbs = 16, .start = 65'530, .timeout_ns = 30'000'000'000});
    nic.fail_at(65'530 + 100, 0x13, 0x88);
    std::atomic<unsigned> failed = 0;
    {
      Engine engine(nic);
      std::vector<std::thread> lanes;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        lanes.emplace_back([&] {
          static std::uint64_t to[kLanes];
          SendQueue<Shared<GpuFence>> sq{nic.qp()};
          Result last;
          for (int i = 0; i < 10'000 && last.ok(); ++i) {
            const auto slots = sq.reserve(Solo{}, 1);
            sq.write_value(slots[0], nic.remote(to[0]), 1);
            last = sq.wait(Solo{}, sq.submit(Solo{}, slots));
          }
          if (last.status == Status::kRemoteAccess || last.status == Status::kFlushed) ++failed;
        });
      }
      for (auto& lane : lanes) lane.join();
    }
    EXPECT_EQ(failed, kLanes);
  }
}

}  // namespace
}  // namespace marrow::gda
