// SPDX-License-Identifier: Apache-2.0
// What workers refuse before anything runs, each with its sentence; how rings are dealt; where workers are pinned.
#include <gmock/gmock.h>
#include <sched.h>

#include <functional>

#include "proxy/fake_verbs.h"
#include "proxy/hand_offs.h"
#include "proxy/workers.h"

namespace marrow::proxy::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string sentence_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const util::Error& error) {
    EXPECT_EQ(error.kind(), util::ErrorKind::kUsage) << error.what();
    return error.what();
  }
  return "nothing was refused";
}

TEST(WorkersOptions, WhatCannotBeIsRefusedBySentence) {
  struct Case {
    WorkersOptions options;
    const char* says;
  };
  const Case cases[] = {
      {{.workers = 0}, "workers is 0, and must be from 1 to 64"},
      {{.workers = 65}, "workers is 65"},
      {{.batch = 0}, "batch is 0, and must be from 1 to 256"},
      {{.batch = 257}, "batch is 257"},
      {{.take_per_visit = 0}, "take-per-visit is 0"},
      {{.in_flight = 0}, "in-flight is 0, and must be a power of two"},
      {{.in_flight = 100}, "in-flight is 100, and must be a power of two"},
      {{.send_depth = 96}, "send-depth is 96, and must be a power of two"},
      {{.send_depth = 1u << 16}, "send-depth is 65536"},
      {{.batch = 16, .send_depth = 16}, "a batch of 16 may be 32 work requests, and send-depth is 16"},
      {{.stop_check_every = 0}, "stop-check-every is 0"},
      {{.nap = std::chrono::microseconds(-1)}, "a nap of negative length"},
      {{.cores = {0, 1}}, "2 cores are named for 1 workers"},
      {{.numa_node = 0, .cores = {0}}, "both cores and a NUMA node"},
      {{.stop_timeout = std::chrono::milliseconds(-1)}, "stop-timeout is negative"},
  };
  for (const auto& c : cases) EXPECT_THAT(sentence_of([&] { require_valid(c.options); }), HasSubstr(c.says));
  EXPECT_NO_THROW(require_valid({}));
}

class Rings : public ::testing::Test {
 protected:
  [[nodiscard]] WorkerRing good() const { return {.ring = memory_.ring()}; }
  [[nodiscard]] std::string says(const WorkerRing& ring, bool shareable = false) const {
    return sentence_of([&] { require_valid({}, std::vector{ring}, shareable); });
  }
  TestRing<Tuned> memory_{16};
};

TEST_F(Rings, ThatAreNoneAreRefused) {
  EXPECT_THAT(sentence_of([&] { require_valid({}, std::vector<WorkerRing>{}, false); }), HasSubstr("0 rings"));
  for (const std::uint32_t depth : {0u, 1u, 3u, 96u, 2 * kMaxRingDepth}) {
    auto bad = good();
    bad.ring.depth = depth;
    EXPECT_THAT(says(bad), HasSubstr("no power of two from 2 to"));
  }
  auto bad = good();
  bad.ring.done = nullptr;
  EXPECT_THAT(says(bad), HasSubstr("ring 0 has no memory"));
  bad = good();
  bad.worker = 1;
  EXPECT_THAT(says(bad), HasSubstr("ring 0 wants worker 1 of 1"));
}

TEST_F(Rings, AreForOneProducerUnlessTheirHandOffSharesThem) {
  auto shared = good();
  shared.producers = 2;
  EXPECT_THAT(says(shared), HasSubstr("ring 0 has 2 producers, and its hand-off is for one"));
  EXPECT_NO_THROW(require_valid({}, std::vector{shared}, true));
  shared.producers = 0;
  EXPECT_THAT(says(shared, true), HasSubstr("ring 0 has no producer"));
  EXPECT_EQ((shared_by<SharedTuned, 7>(memory_.ring()).producers), 7u);
}

TEST(Deal, EveryWorkerHasARingAndReservedOnesHaveTheirOwn) {
  const WorkerRing any{}, own{.reserved = Reserved::kWorker}, third{.worker = 2};
  const auto of = [](std::uint32_t workers, std::vector<WorkerRing> rings) {
    return deal({.workers = workers}, rings);
  };
  EXPECT_THAT(of(2, {any, any, any, any, any}), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(of(3, {any, own, any, any}), ElementsAre(0, 2, 1, 0));
  EXPECT_THAT(of(3, {third, any, any}), ElementsAre(2, 0, 1));
  EXPECT_THAT(of(1, {any, {.reserved = Reserved::kFirst}}), ElementsAre(0, 0));
  EXPECT_THAT(of(1, {own}), ElementsAre(0));
  const auto says = [&](std::uint32_t workers, std::vector<WorkerRing> rings) {
    return sentence_of([&] { (void)of(workers, rings); });
  };
  EXPECT_THAT(says(3, {any, any}), HasSubstr("3 workers for 2 rings: worker 2 has none"));
  EXPECT_THAT(says(1, {own, any}), HasSubstr("every worker is reserved, and a ring is left over"));
  EXPECT_THAT(says(1, {own, own}), HasSubstr("1 workers are too few"));
  EXPECT_THAT(says(3, {own, third}), HasSubstr("ring 1 wants worker 2, which is reserved"));
}

std::vector<unsigned> usable() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (unsigned i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) cores.push_back(i);
  }
  return cores;
}

TEST(Pinning, RefusesCoresAndNodesThatDoNotExist) {
  const auto says = [](const WorkersOptions& options) {
    return sentence_of([&] { (void)choose_places(options, nullptr); });
  };
  EXPECT_THAT(says({.cores = {100'000}}), HasSubstr("there is no core 100000"));
  EXPECT_THAT(says({.numa_node = 4'000}), HasSubstr("there is no NUMA node 4000"));
  const auto there = static_cast<std::uint32_t>(usable().size());
  if (there < kMaxWorkers) {
    EXPECT_THAT(says({.workers = there + 1}),
                AllOf(HasSubstr(std::to_string(there + 1) + " workers"), HasSubstr("this process may use")));
  }
  const auto core = usable().front();
  EXPECT_THAT(says({.workers = 2, .cores = {core, core}}), HasSubstr("is named for two workers"));
}

TEST(Pinning, GivesEachWorkerACoreAndSharesThemWhenToldTo) {
  const auto cores = usable();
  const auto all =
      choose_places({.workers = static_cast<std::uint32_t>(std::min(cores.size(), std::size_t{64}))}, nullptr);
  std::vector<unsigned> chosen;
  for (const auto& place : all) {
    EXPECT_TRUE(place.pinned);
    EXPECT_FALSE(place.shared);
    chosen.push_back(place.core);
  }
  EXPECT_THAT(chosen, ::testing::IsSubsetOf(cores));
  const auto crowded = choose_places({.workers = 64, .oversubscribe = true}, nullptr);
  EXPECT_EQ(crowded.size(), 64u);
  EXPECT_TRUE(cores.size() >= 64 || crowded.front().shared);
  EXPECT_FALSE(choose_places({.pin = false}, nullptr).front().pinned);
}

TEST(Workers, RefuseQueuesThatAreNotTheirs) {
  TestRing<Tuned> memory(16);
  const std::vector<WorkerRing> one{{.ring = memory.ring()}};
  const auto says = [&](const RouteTable& table, const WorkersOptions& options = {}) {
    return sentence_of([&] { Workers<Tuned> workers(options, table, one); });
  };
  FakeVerbs two(2);
  EXPECT_THAT(says(two.table), HasSubstr("queue pairs of 2 workers for 1 workers"));
  FakeVerbs verbs;
  EXPECT_THAT(says(verbs.table, {.cores = {100'000}}), HasSubstr("there is no core 100000"));
  verbs.table.routes.push_back({.connection = 1});
  EXPECT_THAT(says(verbs.table), HasSubstr("a route over connection 1 of 1"));
}

TEST(Workers, RefuseARingWithoutReadyWords) {
  FakeVerbs verbs;
  TestRing<Tuned> memory(16);
  const std::vector<WorkerRing> one{{.ring = memory.ring()}};
  EXPECT_THAT(sentence_of([&] { Workers<Baseline> workers({}, verbs.table, one); }), HasSubstr("no ready words"));
}

}  // namespace
}  // namespace marrow::proxy::testing
