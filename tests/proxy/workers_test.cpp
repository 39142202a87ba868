// SPDX-License-Identifier: Apache-2.0
// Worker threads over queue pairs without a device: start, stop, stop under load, and what a busy worker does not do:
// allocate, or call the kernel.
#include "proxy/workers.h"

#include <gmock/gmock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "proxy/allocations.h"
#include "proxy/one_worker.h"
#include "proxy/quiet_nic.h"

namespace marrow::proxy::testing {
namespace {

using gda::Status;

/// A thousand laps of busy rounds; wrong ones are counted.
template <class H>
std::uint64_t busy_rounds(Worker<H>& worker, Producer<H>& lane) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto last = i % 5 == 4 ? lane.put_signal(put_at(i % 64), 1) : lane.put(put_at(i % 64));
    wrong += last.status != Status::kOk;
    wrong += !worker.round();
    if (i % 8 == 7) {
      const auto flush = lane.flush(0, FlushScope::kAllPeers);
      worker.round();
      worker.round();
      wrong += lane.wait(flush) != Status::kOk;
    }
  }
  return wrong;
}

template <class H>
class BusyWorker : public ::testing::Test {};
TYPED_TEST_SUITE(BusyWorker, AllHandOffs, NameOf);

TYPED_TEST(BusyWorker, AllocatesNothing) {
  QuietNic nic;
  TestRing<TypeParam> memory(16);
  WorkersOptions options{.batch = 4};
  Worker<TypeParam> worker({.options = options, .routes = nic.table, .number = 0, .rings = {{.ring = memory.ring()}}});
  Producer<TypeParam> lane(memory.ring());
  const auto before = allocations_of_this_thread();
  EXPECT_EQ(busy_rounds(worker, lane), 0u);
  EXPECT_EQ(allocations_of_this_thread(), before);
  const auto keep = std::make_unique<int>(1);
  EXPECT_EQ(allocations_of_this_thread(), before + 1) << "the count counts";
}

TYPED_TEST(BusyWorker, MakesNoSystemCall) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer makes system calls of its own";
#endif
  QuietNic nic;
  TestRing<TypeParam> memory(16);
  WorkersOptions options{.batch = 4};
  Worker<TypeParam> worker({.options = options, .routes = nic.table, .number = 0, .rings = {{.ring = memory.ring()}}});
  Producer<TypeParam> lane(memory.ring());
  const auto in_child = [&](bool and_one_call) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) ::_exit(77);  // from here on any call but exit kills
      const auto wrong = busy_rounds(worker, lane);
      if (and_one_call) ::syscall(SYS_sched_yield);
      ::syscall(SYS_exit, wrong == 0 ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  };
  const int status = in_child(false);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(WIFSIGNALED(in_child(true))) << "one call kills";
}

WorkersOptions crowded() {
  return {.workers = 2, .batch = 4, .idle = Idle::kYield, .stop_check_every = 16, .oversubscribe = true};
}

template <class H>
struct FourRings {
  FourRings() : verbs(2) {
    verbs.add_routes(from, to, signals);
    for (int i = 0; i < 4; ++i) {
      memories.push_back(std::make_unique<TestRing<H>>(16, 20'000));
      rings.push_back({.ring = memories.back()->ring()});
    }
  }
  std::vector<std::byte> from = std::vector<std::byte>(4096, std::byte{7});
  std::vector<std::byte> to = std::vector<std::byte>(4096);
  std::vector<std::uint64_t> signals = std::vector<std::uint64_t>(8);
  FakeVerbs verbs;
  std::vector<std::unique_ptr<TestRing<H>>> memories;
  std::vector<WorkerRing> rings;
};

template <class H>
class WorkerThreads : public ::testing::Test {};
TYPED_TEST_SUITE(WorkerThreads, AllHandOffs, NameOf);

TYPED_TEST(WorkerThreads, ServeTheirRingsAndStop) {
  FourRings<TypeParam> four;
  Workers<TypeParam> workers(crowded(), four.verbs.table, four.rings);
  workers.start();
  EXPECT_THROW(workers.start(), util::Error);
  constexpr std::uint64_t kPuts = 1'000;
  std::vector<std::thread> lanes;
  std::atomic<std::uint64_t> wrong{0};
  for (std::uint64_t i = 0; i < 4; ++i) {
    lanes.emplace_back([&, i] {
      Producer<TypeParam> lane(four.memories[i]->ring());
      Ticket last;
      for (std::uint64_t n = 0; n < kPuts; ++n) {
        last = lane.put({.from = i * 1024, .to = i * 1024, .bytes = 1024});
        wrong += last.status != Status::kOk;
      }
      wrong += lane.wait(last) != Status::kOk;
    });
  }
  for (auto& lane : lanes) lane.join();
  workers.stop();
  workers.stop();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(four.from, four.to);
  EXPECT_EQ(workers.total().requests, 4 * kPuts);
  EXPECT_EQ(workers.total().wrs, 4 * kPuts);
  EXPECT_EQ(four.verbs.qp(0, 0).done + four.verbs.qp(0, 1).done, 4 * kPuts);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(workers.taken(i), kPuts);
  const auto report = workers.report();
  EXPECT_THAT(report.workers[1].rings, ::testing::ElementsAre(1, 3));
  EXPECT_GT(report.total().ticks, report.total().busy_ticks);
  EXPECT_THAT(report.sentence(), ::testing::StartsWith("2 workers on cores "));
}

/// A worker that rests is still there when something comes.
TEST(IdleWorkers, ServeWhateverTheyDoWhenIdle) {
  for (const auto idle : {Idle::kSpin, Idle::kYield, Idle::kNap}) {
    FourRings<Tuned> four;
    auto options = crowded();
    options.idle = idle;
    options.spins_before_nap = 10;
    Workers<Tuned> workers(options, four.verbs.table, four.rings);
    workers.start();
    Producer<Tuned> lane(four.memories[3]->ring());
    for (std::uint64_t i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      ASSERT_EQ(lane.wait(lane.put(put_at(i))), Status::kOk);
    }
    workers.stop();
    EXPECT_LT(workers.total().busy(), 0.9);
    EXPECT_GT(workers.total().empty_visits, 100u);
  }
}

TYPED_TEST(WorkerThreads, StopUnderLoadWithinTheirTimeAndTellEveryLane) {
  FourRings<TypeParam> four;
  Workers<TypeParam> workers(crowded(), four.verbs.table, four.rings);
  workers.start();
  std::vector<std::thread> lanes;
  std::atomic<std::uint64_t> done{0}, wrong{0};
  for (std::uint64_t i = 0; i < 4; ++i) {
    lanes.emplace_back([&, i] {
      Producer<TypeParam> lane(four.memories[i]->ring());
      for (;;) {
        const auto status = lane.wait(lane.put(put_at(i)));
        if (status == Status::kFlushed) return;
        if (status != Status::kOk) return void(++wrong);
        ++done;
      }
    });
  }
  while (done < 100) std::this_thread::yield();
  const auto start = util::now();
  workers.stop();
  EXPECT_LT(util::now() - start, std::chrono::seconds(5));
  for (auto& lane : lanes) lane.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(workers.total().wrs, done) << "what was said to be done was, and nothing else";
}

TYPED_TEST(WorkerThreads, GoOnWhereOthersStopped) {
  FourRings<TypeParam> four;
  Producer<TypeParam> lane(four.memories[0]->ring());
  for (int turn = 0; turn < 3; ++turn) {
    Workers<TypeParam> workers(crowded(), four.verbs.table, four.rings);
    workers.start();
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(lane.wait(lane.put(put_at(i))), Status::kOk);
    workers.stop();
    for (std::uint32_t i = 0; i < 4; ++i) four.rings[i].first = workers.taken(i);
    EXPECT_EQ(four.rings[0].first, 10u * static_cast<std::uint64_t>(turn + 1));
  }
}

}  // namespace
}  // namespace marrow::proxy::testing
