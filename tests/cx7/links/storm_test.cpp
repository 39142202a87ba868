// SPDX-License-Identifier: Apache-2.0
// RC traffic under every fault: writes, reads, atomics and sends of many sizes, some at once; each operation ends with
// every byte right, or with the exact error within its budget. Time is the test's, so waiting costs nothing.
// MARROW_STORM_OPERATIONS sets how many operations each storm has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "../hca/two_sides.h"
#include "util/env.h"

namespace marrow::cx7::test {
namespace {

constexpr std::uint32_t kPlaces = 16;  // operations at once, each with a place of its own in both buffers
constexpr std::size_t kPlaceBytes = 8192;
constexpr std::size_t kCounterAt = kPlaces * kPlaceBytes;

enum class Kind : std::uint8_t { kWrite, kRead, kAtomic, kSend };

struct Operation {
  Kind kind{};
  std::uint32_t bytes = 0;
  std::uint32_t pattern = 0;
};

std::uint32_t scrambled(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

void fill(std::byte* to, std::uint32_t bytes, std::uint32_t pattern) {
  for (std::uint32_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(pattern + i * 31 + (i >> 8));
}

bool is_filled(const std::byte* from, std::uint32_t bytes, std::uint32_t pattern) {
  for (std::uint32_t i = 0; i < bytes; ++i) {
    if (from[i] != static_cast<std::byte>(pattern + i * 31 + (i >> 8))) return false;
  }
  return true;
}

class Storm {
 public:
  explicit Storm(std::string_view faults, const QpAttributes& attributes = kUsual)
      : engine("storm-" + std::to_string(::getpid()), Checking::kStrict, {.faults = parse_faults(faults)}),
        a(engine, 0),
        b(engine, 1) {
    a.connect_to(b, attributes);
    b.connect_to(a, attributes);
  }

  /// Until the CQ has something, or `most` has passed. Where nothing moves, time goes faster.
  const wire::Cqe* wait(Time most) {
    for (const Time end = now + most; now < end;) {
      now += engine.step(now) ? Time{1000} : Time{200'000};
      if (const auto* cqe = a.poll()) return cqe;
    }
    return nullptr;
  }

  /// The receiver's CQE may be held back while its ACK is not.
  const wire::Cqe* wait_for_receive() {
    for (const Time end = now + std::chrono::seconds(1); now < end; now += Time{1000}) {
      if (const auto* cqe = b.poll_recv()) return cqe;
      engine.step(now);
    }
    return nullptr;
  }

  void post(const Operation& operation, std::uint32_t place) {
    const std::size_t at = place * kPlaceBytes;
    switch (operation.kind) {
      case Kind::kWrite:
        fill(a.buffer.data + at, operation.bytes, operation.pattern);
        std::memset(b.buffer.data + at, 0, kPlaceBytes);
        return a.put(wire::write_wqe(a.next(), b.remote(at), a.local(at), operation.bytes));
      case Kind::kRead:
        fill(b.buffer.data + at, operation.bytes, operation.pattern);
        std::memset(a.buffer.data + at, 0, kPlaceBytes);
        return a.put(wire::write_wqe(a.next(), b.remote(at), a.local(at), operation.bytes, wire::Opcode::kRead));
      case Kind::kAtomic:
        return a.put(wire::atomic_wqe(a.next(), b.remote(kCounterAt), a.local(at), {.swap_add = 1}));
      case Kind::kSend:
        fill(a.buffer.data + at, operation.bytes, operation.pattern);
        std::memset(b.buffer.data + at, 0, kPlaceBytes);
        b.post_recv(at, kPlaceBytes);
        return a.put(wire::send_wqe(a.next(), a.local(at), operation.bytes));
    }
  }

  void check(const Operation& operation, std::uint32_t place) {
    const std::size_t at = place * kPlaceBytes;
    const bool at_reader = operation.kind == Kind::kRead;
    if (operation.kind == Kind::kAtomic) {
      std::uint64_t old = 0;
      std::memcpy(&old, a.buffer.data + at, sizeof old);
      ASSERT_EQ(old, added_++) << "an atomic was done twice, or not";
      return;
    }
    const std::byte* const there = (at_reader ? a : b).buffer.data + at;
    ASSERT_TRUE(is_filled(there, operation.bytes, operation.pattern)) << "wrong bytes";
    if (operation.kind != Kind::kSend) return;
    const auto* cqe = wait_for_receive();
    ASSERT_NE(cqe, nullptr);
    ASSERT_FALSE(cqe->is_error());
    ASSERT_EQ(cqe->byte_count.host(), operation.bytes);
  }

  Time now = std::chrono::milliseconds(1);
  Engine engine;
  Side a;
  Side b;

 private:
  std::uint64_t added_ = 0;
};

Operation operation_of(std::uint32_t number) {
  const std::uint32_t dice = scrambled(number);
  const bool long_one = dice >> 28 == 0;
  return {static_cast<Kind>(dice & 3), 1 + (dice >> 4) % (long_one ? 5000u : 600u), dice};
}

/// How far it came: all of `operations` unless something failed.
void rage(Storm& storm, std::uint32_t operations) {
  constexpr Time kBudget = std::chrono::seconds(30);
  for (std::uint32_t done = 0; done < operations;) {
    std::vector<Operation> batch;
    for (std::uint32_t place = 0; place < kPlaces && done + place < operations; ++place) {
      batch.push_back(operation_of(done + place));
      storm.post(batch.back(), place);
    }
    storm.a.announce();
    for (std::uint32_t place = 0; place < batch.size(); ++place, ++done) {
      const auto* cqe = storm.wait(kBudget);
      ASSERT_NE(cqe, nullptr) << "operation " << done << " hangs";
      ASSERT_FALSE(cqe->is_error()) << "operation " << done << ": " << wire::syndrome_name(cqe->syndrome);
      storm.check(batch[place], place);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

class Weather : public ::testing::TestWithParam<const char*> {};

TEST_P(Weather, EveryByteIsRight) {
  const auto operations =
      static_cast<std::uint32_t>(util::env_integer("MARROW_STORM_OPERATIONS", {.fallback = 10'000, .min = 1}));
  Storm storm(GetParam());
  rage(storm, operations);
  const auto counters = storm.engine.fabric().counters();
  EXPECT_GT(counters.faults_lost + counters.faults_duplicated + counters.faults_reordered + counters.faults_delayed +
                counters.faults_corrupted + counters.faults_slow + counters.faults_black_hole +
                counters.faults_link_down + counters.faults_rnr + counters.faults_cqes_held +
                counters.faults_doorbells_late,
            0u);
}

INSTANTIATE_TEST_SUITE_P(Storm, Weather,
                         ::testing::Values("loss rate=1%", "loss rate=5% of=answers", "loss rate=5% of=requests",
                                           "duplicate rate=10%", "reorder rate=5% depth=3", "delay rate=2% time=300us",
                                           "corrupt rate=1%", "slow-responder rate=0.2% time=2ms",
                                           "rnr-storm rate=0.5% time=1ms", "held-cqe rate=1% time=500us",
                                           "late-doorbell rate=5% time=300us", "start psn=0xfffff0; loss rate=0.5%",
                                           "black-hole at=5ms for=300ms; black-hole at=600ms for=700ms",
                                           "down at=4ms for=1s",
                                           "seed 9; loss rate=0.5%; duplicate rate=2%; reorder rate=2% depth=5; "
                                           "delay rate=1% time=2ms; corrupt rate=0.5%; black-hole at=10ms for=400ms; "
                                           "slow-responder rate=0.1% time=1ms; rnr-storm rate=0.1% time=1ms; "
                                           "held-cqe rate=0.5% time=200us; late-doorbell rate=1% time=200us; "
                                           "start psn=0xffffff"));

// A NIC gives up after retry_count + 1 intervals: no later, no sooner, and with the right word.
TEST(Storm, AForeverBlackHoleEndsInRetryExceeded) {
  for (const auto* fault : {"black-hole at=0s for=3600s", "down at=0s for=3600s", "loss rate=100% of=answers"}) {
    auto attributes = kUsual;
    attributes.retry_count = 3;
    Storm storm(fault, attributes);
    const Time interval{std::int64_t{4096} << 16};
    storm.a.put(wire::write_wqe(storm.a.next(), storm.b.remote(), storm.a.local(), 8));
    storm.a.put(wire::write_wqe(storm.a.next(), storm.b.remote(), storm.a.local(), 8));
    storm.a.announce();
    const Time from = storm.now;
    const auto* cqe = storm.wait(std::chrono::seconds(30));
    ASSERT_NE(cqe, nullptr) << fault;
    EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRetryExceeded) << fault;
    EXPECT_GE(storm.now - from, interval * 4) << fault;
    EXPECT_LT(storm.now - from, interval * 4 + std::chrono::milliseconds(20)) << fault;
    cqe = storm.wait(std::chrono::seconds(1));
    ASSERT_NE(cqe, nullptr) << fault;
    EXPECT_EQ(cqe->syndrome, wire::Syndrome::kFlushed) << fault;
  }
}

TEST(Storm, AReceiverThatIsNeverReadyEndsInRnrRetryExceeded) {
  auto attributes = kUsual;
  attributes.rnr_retry = 3;
  Storm storm("rnr-storm rate=100% time=3600s", attributes);
  storm.post({.kind = Kind::kSend, .bytes = 8}, 0);
  storm.a.announce();
  const auto* cqe = storm.wait(std::chrono::seconds(30));
  ASSERT_NE(cqe, nullptr);
  EXPECT_EQ(cqe->syndrome, wire::Syndrome::kRnrRetryExceeded);
  EXPECT_EQ(storm.engine.fabric().counters().faults_rnr, 4u) << "once, and three times again";
}

TEST(Storm, AQueuePairStartsWhereItIsTold) {
  Storm storm("start psn=0xfffff0");
  EXPECT_EQ(storm.a.qp->requester.next_psn, 0xfffff0u);
  EXPECT_EQ(storm.b.qp->responder.expected_psn, 0xfffff0u);
  rage(storm, 200);
  EXPECT_LT(storm.a.qp->requester.next_psn, 0x1000u) << "past the wrap";
}

TEST(Storm, ACqeComesAsLateAsAskedAndInOrder) {
  Storm storm("held-cqe rate=100% time=5ms");
  for (int k = 0; k < 3; ++k) storm.a.put(wire::write_wqe(storm.a.next(), storm.b.remote(), storm.a.local(), 8));
  storm.a.announce();
  const Time from = storm.now;
  for (std::uint16_t k = 0; k < 3; ++k) {
    const auto* cqe = storm.wait(std::chrono::seconds(1));
    ASSERT_NE(cqe, nullptr);
    EXPECT_EQ(cqe->wqe_counter.host(), k);
    EXPECT_GE(storm.now - from, std::chrono::milliseconds(5));
  }
  EXPECT_LT(storm.now - from, std::chrono::milliseconds(6));
}

// What a queue pair was promised before it goes is written before it goes.
TEST(Storm, HeldCqesAreWrittenWhenTheirQueuePairIsReset) {
  Storm storm("held-cqe rate=100% time=3600s");
  storm.a.put(wire::write_wqe(storm.a.next(), storm.b.remote(), storm.a.local(), 8));
  storm.a.announce();
  EXPECT_EQ(storm.wait(std::chrono::milliseconds(5)), nullptr);
  ASSERT_EQ(storm.engine.modify_qp(storm.a.device, *storm.a.qp, QpState::kReset, {}), Engine::Modify::kOk);
  EXPECT_NE(storm.a.poll(), nullptr);
}

/// Hears of the port.
struct Watcher : EventSink {
  void async_event(AsyncEvent event) override { heard.push_back(event); }
  std::vector<AsyncEvent> heard;
};

TEST(Storm, APortThatGoesDownAndComesBackIsAnnounced) {
  Storm storm("down at=10ms for=10ms");
  Watcher watcher;
  storm.engine.device(0).port_watchers.push_back(&watcher);
  for (const Time end = storm.now + std::chrono::milliseconds(15); storm.now < end; storm.now += Time{100'000}) {
    storm.engine.step(storm.now);
  }
  EXPECT_THAT(watcher.heard, ::testing::ElementsAre(AsyncEvent::kPortError));
  for (const Time end = storm.now + std::chrono::milliseconds(15); storm.now < end; storm.now += Time{100'000}) {
    storm.engine.step(storm.now);
  }
  EXPECT_THAT(watcher.heard, ::testing::ElementsAre(AsyncEvent::kPortError, AsyncEvent::kPortActive));
}

}  // namespace
}  // namespace marrow::cx7::test
