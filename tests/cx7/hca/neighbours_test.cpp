// SPDX-License-Identifier: Apache-2.0
// What processes tell each other's GPU threads: two engines of one domain, which are two slots, each with GPU threads
// that only note what they hear. What a stranger may not do comes first.
#include "cx7/hca/neighbours.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "cx7/fabric/fresh_domain.h"
#include "two_sides.h"
#include "util/clock.h"

namespace marrow::cx7::test {
namespace {

using namespace std::chrono_literals;

/// Takes every queue pair, calls a range of addresses GPU memory, and keeps what it hears.
class NotingGpu final : public GpuEngine {
 public:
  bool is_gpu_memory(const void* at, std::uint64_t) override { return gpu_memory.contains(at); }
  bool read(void*, const void*, std::size_t) override { return false; }
  std::string adopt(const Qp&, const Uar&) override { return {}; }
  void qp_changed(const Qp&) override {}
  void qp_gone(const Qp&) override {}
  void look_at(Qp&) override {}
  void key_added(std::uint8_t, const Mkey&) override {}
  void key_gone(std::uint8_t, const Mkey&) override {}
  Counters counters(std::uint8_t) override { return {}; }
  SharedRange share(const Mkey& key) override {
    SharedRange made;
    if (!gpu_memory.contains(key.host)) return made;
    made.how = SharedRange::How::kHandle;
    made.handle[0] = std::byte{0x5a};
    made.offset = 4096;
    return made;
  }
  bool hear(const FarNews& news) override {
    if (deaf) return false;
    if (news.process_gone) {
      ++processes_gone;
      keys.clear();
      qps.clear();
    }
    for (const auto& gone : news.keys_gone) keys.erase(gone.key);
    for (const auto& key : news.keys) keys[key.key] = key;
    for (const auto& qp : news.qps) qps[qp.qpn] = qp;
    return true;
  }

  std::set<const void*> gpu_memory;
  std::map<std::uint32_t, FarKey> keys;
  std::map<std::uint32_t, FarQp> qps;
  std::atomic<int> processes_gone{0};
  std::atomic<bool> deaf{false};
};

/// A process: an engine with a thread that steps it, as the shim has it.
class Process {
 public:
  explicit Process(const std::string& domain) : engine(std::make_unique<Engine>(domain, Checking::kStrict)) {
    engine->set_gpu_choice({.load = [this] { return &gpu; }, .every_queue = true});
    side = std::make_unique<Side>(*engine, 0);
    resume();
  }
  ~Process() { die(); }

  void pause() {
    running_ = false;
    if (thread_.joinable()) thread_.join();
  }
  void resume() {
    running_ = true;
    thread_ = std::thread([this] {
      while (running_) {
        engine->step(util::now());
        std::this_thread::sleep_for(100us);
      }
    });
  }
  void die() {
    pause();
    side.reset();
    engine.reset();
  }

  /// RST to RTS. As the firmware does, GPU threads take the queue pair first.
  void connect(std::uint32_t qpn) {
    const Engine::Lock lock(*engine);
    ASSERT_EQ(engine->place_qp(side->device, *side->qp), "");
    auto attributes = kUsual;
    attributes.remote_qpn = qpn;
    for (const auto to : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
      ASSERT_EQ(engine->modify_qp(side->device, *side->qp, to, attributes), Engine::Modify::kOk);
    }
  }
  /// A key of this buffer in what counts as GPU memory.
  std::uint32_t add_key(std::uint32_t access, bool on_gpu = true) {
    const Engine::Lock lock(*engine);
    if (on_gpu) gpu.gpu_memory.insert(side->buffer.data);
    const auto key = side->device.mkeys.next_number() << 8 | 0x11;
    engine->add_mkey(
        side->device,
        {.key = key, .pdn = side->pdn, .access = access, .iova = 0x1000, .bytes = 64, .host = side->buffer.data});
    return key;
  }
  void remove_key(std::uint32_t key) {
    const Engine::Lock lock(*engine);
    engine->remove_mkey(side->device, key);
  }
  [[nodiscard]] std::uint32_t qpn() const { return side->qp->config.qpn; }

  /// What GPU threads know of others, with the engine standing still.
  template <class Look>
  auto look(Look look) {
    const Engine::Lock lock(*engine);
    return look(gpu);
  }
  [[nodiscard]] bool knows_key(std::uint32_t key) {
    return look([key](const NotingGpu& g) { return g.keys.contains(key); });
  }
  [[nodiscard]] bool may_reach(std::uint32_t number) {
    return look([number](const NotingGpu& g) { return g.qps.contains(number) && g.qps.at(number).receives; });
  }

  NotingGpu gpu;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Side> side;

 private:
  std::atomic<bool> running_{false};
  std::thread thread_;
};

template <class Condition>
bool within(std::chrono::nanoseconds limit, Condition condition) {
  for (const auto end = util::now() + limit; !condition(); std::this_thread::sleep_for(1ms)) {
    if (util::now() > end) return false;
  }
  return true;
}

struct Two {
  Two() : a(domain), b(domain) {}
  void connect() {
    a.connect(b.qpn());
    b.connect(a.qpn());
  }
  std::string domain = fresh_domain();
  Process a;
  Process b;
};

constexpr std::uint32_t kAll = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic;

TEST(Neighbours, AKeyWithoutRemoteRightsIsNobodysBusiness) {
  Two two;
  const auto key = two.b.add_key(kLocalWrite);
  two.connect();
  EXPECT_FALSE(two.a.knows_key(key));
}

TEST(Neighbours, AQueuePairThatLeadsElsewhereIsNotTold) {
  Two two;
  Process c(two.domain);
  two.a.connect(two.b.qpn());
  two.b.connect(c.qpn());
  const auto key = two.b.add_key(kAll);  // returns when everything before it has been heard too
  EXPECT_TRUE(two.a.knows_key(key));
  EXPECT_FALSE(two.a.may_reach(two.b.qpn()));
}

TEST(Neighbours, WhoSaysNonsenseIsCutOff) {
  Two two;
  struct Deaf final : ControlLinks::Listener {
    void on_message(ControlLinks::Link, std::span<const std::byte>) override {}
    void on_end(ControlLinks::Link) override { ++ends; }
    int ends = 0;
  } stranger;
  ControlLinks links(two.domain, 77, stranger);
  for (const std::size_t bytes : {1u, 128u, 512u}) {
    ControlLinks::Link link = 0;
    ASSERT_EQ(links.open(two.b.engine->fabric().slot(), link), Rendezvous::Outcome::kDone);
    const std::vector<std::byte> nonsense(bytes, std::byte{0xee});
    links.send(link, nonsense);
    const int before = stranger.ends;
    EXPECT_TRUE(within(2s, [&] {
      links.attend(1ms);
      return stranger.ends > before;
    })) << bytes;
  }
  two.connect();
  EXPECT_TRUE(within(2s, [&] { return two.a.may_reach(two.b.qpn()); }));
}

TEST(Neighbours, AQueuePairToNobodyIsConnectedAllTheSame) {
  Two two;
  const auto start = util::now();
  two.a.connect(200u << 16 | 64);
  EXPECT_LT(util::now() - start, 1s);
}

TEST(Neighbours, ConnectingReturnsWithTheOwnersKeysInPlace) {
  Two two;
  const auto on_gpu = two.b.add_key(kAll | kRelaxedOrdering);
  two.a.connect(two.b.qpn());
  ASSERT_TRUE(two.a.knows_key(on_gpu));
  const FarKey key = two.a.look([&](const NotingGpu& g) { return g.keys.at(on_gpu); });
  EXPECT_EQ(key.access, kAll | kRelaxedOrdering);
  EXPECT_EQ(key.pdn, two.b.side->pdn);
  EXPECT_EQ(key.iova, 0x1000u);
  EXPECT_EQ(key.bytes, 64u);
  EXPECT_EQ(key.where.how, SharedRange::How::kHandle);
  EXPECT_EQ(key.where.handle[0], std::byte{0x5a});
  EXPECT_EQ(key.where.offset, 4096u);
}

TEST(Neighbours, AKeyInHostMemoryIsToldAsSuch) {
  Two two;
  const auto key = two.b.add_key(kAll, /*on_gpu=*/false);
  two.connect();
  ASSERT_TRUE(two.a.knows_key(key));
  EXPECT_EQ(two.a.look([&](const NotingGpu& g) { return g.keys.at(key).where.how; }), SharedRange::How::kHostMemory);
}

TEST(Neighbours, AQueuePairIsReachedFromWhenItReceivesUntilItIsReset) {
  Two two;
  two.a.connect(two.b.qpn());
  EXPECT_FALSE(two.a.may_reach(two.b.qpn()));
  two.b.connect(two.a.qpn());
  EXPECT_TRUE(within(2s, [&] { return two.a.may_reach(two.b.qpn()); }));
  const FarQp told = two.a.look([&](const NotingGpu& g) { return g.qps.at(two.b.qpn()); });
  EXPECT_EQ(told.remote_qpn, two.a.qpn());
  EXPECT_EQ(told.access, kUsual.access);
  {
    const Engine::Lock lock(*two.b.engine);
    ASSERT_EQ(two.b.engine->modify_qp(two.b.side->device, *two.b.side->qp, QpState::kReset, {}), Engine::Modify::kOk);
  }
  EXPECT_FALSE(two.a.may_reach(two.b.qpn()));
}

TEST(Neighbours, ANewKeyIsKnownWhenItsCallReturnsAndAGoneOneForgotten) {
  Two two;
  two.connect();
  for (int i = 0; i < 20; ++i) {
    const auto key = two.b.add_key(kAll);
    ASSERT_TRUE(two.a.knows_key(key)) << i;
    two.b.remove_key(key);
    ASSERT_FALSE(two.a.knows_key(key)) << i;
  }
}

TEST(Neighbours, ManyKeysArriveAtOnce) {
  Two two;
  std::vector<std::uint32_t> keys(3000);
  for (auto& key : keys) key = two.b.add_key(kAll);
  two.connect();
  for (const auto key : keys) ASSERT_TRUE(two.a.knows_key(key));
}

TEST(Neighbours, TwoThatTakeAwayAtTheSameTimeDoNotWaitForEachOther) {
  Two two;
  two.connect();
  for (int i = 0; i < 10; ++i) {
    const auto of_a = two.a.add_key(kAll);
    const auto of_b = two.b.add_key(kAll);
    const auto start = util::now();
    std::thread other([&] { two.a.remove_key(of_a); });
    two.b.remove_key(of_b);
    other.join();
    ASSERT_LT(util::now() - start, 1s);
    ASSERT_FALSE(two.a.knows_key(of_b));
    ASSERT_FALSE(two.b.knows_key(of_a));
  }
}

TEST(Neighbours, TwoThatMeetAtTheSameTimeDoNotWaitForEachOther) {
  Two two;
  const auto start = util::now();
  std::thread other([&] { two.a.connect(two.b.qpn()); });
  two.b.connect(two.a.qpn());
  other.join();
  EXPECT_LT(util::now() - start, 1s);
  EXPECT_TRUE(within(2s, [&] { return two.a.may_reach(two.b.qpn()) && two.b.may_reach(two.a.qpn()); }));
}

TEST(Neighbours, WhoDoesNotLetGoIsCutOffAfterATime) {
  Two two;
  two.connect();
  const auto key = two.b.add_key(kAll);
  two.a.gpu.deaf = true;
  const auto start = util::now();
  two.b.remove_key(key);
  EXPECT_LT(util::now() - start, 4s);
  two.a.gpu.deaf = false;
  EXPECT_TRUE(within(2s, [&] { return two.a.gpu.processes_gone != 0; }));
}

TEST(Neighbours, AStoppedProcessDelaysOthersForATimeOnly) {
  Two two;
  two.connect();
  const auto key = two.b.add_key(kAll);
  two.a.pause();
  const auto start = util::now();
  two.b.remove_key(key);
  EXPECT_LT(util::now() - start, 4s);
  two.a.resume();
  EXPECT_TRUE(within(2s, [&] { return !two.a.knows_key(key); }));
}

TEST(Neighbours, OfADeadProcessNothingIsKept) {
  Two two;
  const auto key = two.b.add_key(kAll);
  two.connect();
  ASSERT_TRUE(two.a.knows_key(key));
  two.b.die();
  EXPECT_TRUE(within(2s, [&] { return two.a.gpu.processes_gone == 1; }));
  EXPECT_FALSE(two.a.knows_key(key));
  const auto own = two.a.add_key(kAll);  // waits for nobody
  two.a.remove_key(own);
}

}  // namespace
}  // namespace marrow::cx7::test
