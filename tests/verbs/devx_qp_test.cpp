// SPDX-License-Identifier: Apache-2.0
// A DEVX queue on the software NIC, through unmodified rdma-core: what must be refused, then what must arrive.
// Runs twice: on an InfiniBand and on an Ethernet port.
#include "verbs/devx_qp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>

#include "marrow/gda/send_queue.h"
#include "util/error.h"
#include "verbs/devx.h"
#include "verbs/endpoint.h"
#include "verbs/mailboxes.h"
#include "verbs/simulated_nic.h"

namespace marrow::verbs {
namespace {

using gda::Status;
using ::testing::HasSubstr;

constexpr gda::Solo kTeam;
using ByPointer = gda::Pointer<gda::SystemFence>;
using Inline = gda::Inline<gda::SystemFence, 220>;

/// The sentence and the kind of the Error that `act` throws.
template <class Act>
std::string refusal(Act&& act, util::ErrorKind kind = util::ErrorKind::kFailed) {
  try {
    act();
  } catch (const util::Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "(nothing was refused)";
}

DevxQpOptions quick(DevxQpOptions options = {}) {
  options.timeout = std::chrono::seconds(5);
  return options;
}

class DevxQueue : public ::testing::Test {
 protected:
  void connect_pair(const DevxQpOptions& options = quick()) {
    pair_ = pair_of_endpoints({.devices = {"mlx5_sim0", "mlx5_sim1"}}, options);
    std::memset(a().data(), 0x5a, a().buffer.bytes());
  }
  Endpoint& a() { return *pair_.a; }
  Endpoint& b() { return *pair_.b; }

  /// One WQE on a's queue, built by `write`, until its completion.
  template <class Policy, class Write>
  gda::Result one(std::uint32_t wqebbs, Write&& write) {
    gda::SendQueue<Policy> sq(a().queue.handle());
    const auto slots = sq.reserve(kTeam, gda::Room{1, wqebbs});
    write(sq, slots[0]);
    return sq.wait(kTeam, sq.submit(kTeam, slots));
  }
  gda::Result put(const gda::Put& put) {
    return one<ByPointer>(1, [&](auto& sq, const gda::Slot& slot) { sq.write(slot, put); });
  }
  [[nodiscard]] bool is_untouched(const Endpoint& at) const {
    for (std::size_t i = 0; i < at.buffer.bytes(); ++i) {
      if (at.data()[i] != std::byte{}) return false;
    }
    return true;
  }

  PairOf<DevxQp> pair_;
};

// --- refused at set-up ----------------------------------------------------------------------------------------------

TEST_F(DevxQueue, RefusesOptionsBeyondTheDevice) {
  const Context context("mlx5_sim0");
  const Pd pd(context);
  const auto make = [&](const DevxQpOptions& options) { return [&] { DevxQp(context, pd, options); }; };
  const auto usage = util::ErrorKind::kUsage;
  EXPECT_THAT(refusal(make({.sq_wqebbs = 100}), usage), HasSubstr("100 WQEBBs is not a power of two"));
  EXPECT_THAT(refusal(make({.sq_wqebbs = 1u << 16}), usage), HasSubstr("up to 32768"));
  EXPECT_THAT(refusal(make({.sq_wqebbs = 64, .cq_layout = gda::CqLayout::kRing, .cqes = 32}), usage),
              HasSubstr("a CQ of 32 entries is too small"));
}

TEST_F(DevxQueue, ReportsStatusAndSyndromeOfAMailboxWithAReservedBit) {
  const Context context("mlx5_sim0");
  const HostBuffer memory(1);
  const Umem umem(context, memory);
  const Uar uar(context, UarChoice::kBest);
  auto in = create_cq({.log_cqes = 4, .uar_page = uar.page(), .umem_id = umem.id(), .dbrec_umem_id = umem.id()});
  in.bytes[0x0c] = std::byte{0x80};
  Mailbox<prm::create_cq::kOutBytes> out;
  const auto sentence = refusal([&] { (void)create_object(context.get(), in.bytes, out.bytes); });
  EXPECT_THAT(sentence, HasSubstr("CREATE_CQ refused: bad parameter (status 0x03), syndrome 0x"));
}

TEST_F(DevxQueue, CannotSkipAState) {
  const Context context("mlx5_sim0");
  const Pd pd(context);
  DevxQp qp(context, pd, quick());
  EXPECT_EQ(qp.query().state, prm::QpState::kReset);
  Address nowhere = qp.address();
  nowhere.qpn ^= 1;
  qp.connect(nowhere);
  EXPECT_THAT(refusal([&] { qp.connect(nowhere); }), HasSubstr("RST2INIT_QP refused: bad QP state"));
}

// --- refused by the peer: an error CQE here, no byte changed there --------------------------------------------------

TEST_F(DevxQueue, WriteWithAWrongRkeyIsARemoteAccessError) {
  connect_pair();
  auto to = b().remote();
  to.rkey ^= 0x100;
  const auto result = put({.to = to, .from = a().local(), .bytes = 8});
  EXPECT_EQ(result.status, Status::kRemoteAccess);
  EXPECT_TRUE(is_untouched(b()));
  EXPECT_EQ(a().queue.query().state, prm::QpState::kError);
}

TEST_F(DevxQueue, WritePastTheEndOfTheMrIsARemoteAccessError) {
  connect_pair();
  const auto result = put({.to = b().remote() + (b().buffer.bytes() - 4), .from = a().local(), .bytes = 8});
  EXPECT_EQ(result.status, Status::kRemoteAccess);
  EXPECT_TRUE(is_untouched(b()));
}

TEST_F(DevxQueue, WriteToAForeignPdIsARemoteAccessError) {
  connect_pair();
  const Pd foreign(b().context);
  const HostBuffer buffer(8);
  const Mr mr(foreign, buffer);
  EXPECT_EQ(put({.to = mr.remote(), .from = a().local(), .bytes = 8}).status, Status::kRemoteAccess);
  EXPECT_EQ(*buffer.data(), std::byte{});
}

TEST_F(DevxQueue, WriteWithoutTheRightIsARemoteAccessError) {
  connect_pair();
  const HostBuffer buffer(8);
  const Mr mr(b().pd, buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  EXPECT_EQ(put({.to = mr.remote(), .from = a().local(), .bytes = 8}).status, Status::kRemoteAccess);
  EXPECT_EQ(*buffer.data(), std::byte{});
}

TEST_F(DevxQueue, WrongLkeyIsALocalProtectionError) {
  connect_pair();
  auto from = a().local();
  from.lkey ^= 0x100;
  EXPECT_EQ(put({.to = b().remote(), .from = from, .bytes = 8}).status, Status::kLocalProtection);
  EXPECT_TRUE(is_untouched(b()));
}

TEST_F(DevxQueue, PeerThatIsGoneEndsInRetriesExceeded) {
  DevxQpOptions options = quick({.behaviour = {.ack_timeout = 10, .retry_count = 2}});
  connect_pair(options);
  const auto to = b().remote();
  pair_.b.reset();
  EXPECT_EQ(put({.to = to, .from = a().local(), .bytes = 8}).status, Status::kRetryExceeded);
}

TEST_F(DevxQueue, EverythingAfterToErrorIsFlushed) {
  connect_pair();
  a().queue.to_error();
  EXPECT_EQ(put({.to = b().remote(), .from = a().local(), .bytes = 8}).status, Status::kFlushed);
  EXPECT_THAT(describe(a().queue.query()), HasSubstr("ERR"));
}

// Nobody tells the device that CQEs were read, so a CQ that is checked is full after its first lap.
TEST_F(DevxQueue, CheckedCqDiesOfItsFirstOverrunAndTakesTheQpAlong) {
  connect_pair({.sq_wqebbs = 16,
                .cq_layout = gda::CqLayout::kRing,
                .overrun = CqOverrun::kChecked,
                .timeout = std::chrono::milliseconds(300)});
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(put({.to = b().remote(), .from = a().local(), .bytes = 8}).status, Status::kOk) << i;
  }
  EXPECT_EQ(put({.to = b().remote(), .from = a().local(), .bytes = 8}).status, Status::kTimeout);
  EXPECT_EQ(a().queue.query().state, prm::QpState::kError);
}

// --- what arrives ---------------------------------------------------------------------------------------------------

struct Layout {
  const char* name;
  gda::CqLayout cq;
  UarChoice uar;
};

class EachLayout : public DevxQueue, public ::testing::WithParamInterface<Layout> {
 protected:
  void SetUp() override { connect_pair(quick({.sq_wqebbs = 16, .cq_layout = GetParam().cq, .uar = GetParam().uar})); }
};

TEST_P(EachLayout, WritesByPointerArriveOverManyLapsOfTheRing) {
  for (std::uint32_t i = 0; i < 200; ++i) {
    std::memset(a().data(), static_cast<int>(i + 1), 64);
    ASSERT_EQ(put({.to = b().remote() + 64, .from = a().local(), .bytes = 64}).status, Status::kOk) << i;
    ASSERT_EQ(std::memcmp(b().data() + 64, a().data(), 64), 0) << i;
  }
  EXPECT_EQ(b().data()[63], std::byte{});
  EXPECT_EQ(b().data()[128], std::byte{});
}

TEST_P(EachLayout, InlineWritesOfEverySizeArrive) {
  for (std::uint32_t bytes = 1; bytes <= 220; ++bytes) {
    std::memset(a().data(), static_cast<int>(bytes), bytes);
    const auto result = one<Inline>(gda::inline_write_wqebbs(bytes), [&](auto& sq, const gda::Slot& slot) {
      sq.write_inline(slot, b().remote(), a().data(), bytes);
    });
    ASSERT_EQ(result.status, Status::kOk) << bytes;
    ASSERT_EQ(std::memcmp(b().data(), a().data(), bytes), 0) << bytes;
    ASSERT_EQ(b().data()[bytes], std::byte{}) << bytes;
  }
}

TEST_P(EachLayout, ReadsBringThePeersBytes) {
  std::memset(b().data(), 0x77, b().buffer.bytes());
  const auto result = one<ByPointer>(1, [&](auto& sq, const gda::Slot& slot) {
    sq.read(slot, {.from = b().remote(), .to = a().local(), .bytes = 20'000});
  });
  ASSERT_EQ(result.status, Status::kOk);
  EXPECT_EQ(std::memcmp(a().data(), b().data(), 20'000), 0);
  EXPECT_EQ(a().data()[20'000], std::byte{0x5a});
}

TEST_P(EachLayout, AtomicsChangeThePeerAndReturnTheOldValue) {
  auto* const counter = reinterpret_cast<std::uint64_t*>(b().data());
  auto* const old = reinterpret_cast<std::uint64_t*>(a().data());
  *counter = 40;
  ASSERT_EQ(one<ByPointer>(1,
                           [&](auto& sq, const gda::Slot& slot) {
                             sq.fetch_add(slot, {.at = b().remote(), .result = a().local(), .add = 2});
                           })
                .status,
            Status::kOk);
  EXPECT_EQ(*counter, 42u);
  EXPECT_EQ(*old, a().context.capabilities().atomic_result_big_endian ? wire::swap_bytes(std::uint64_t{40}) : 40u);
  ASSERT_EQ(one<ByPointer>(1,
                           [&](auto& sq, const gda::Slot& slot) {
                             sq.compare_swap(slot,
                                             {.at = b().remote(), .result = a().local(), .compare = 42, .swap = 7});
                           })
                .status,
            Status::kOk);
  EXPECT_EQ(*counter, 7u);
}

TEST_P(EachLayout, FirmwareSaysHowFarTheQueueIs) {
  ASSERT_EQ(put({.to = b().remote(), .from = a().local(), .bytes = 8}).status, Status::kOk);
  const QpSnapshot snapshot = a().queue.query();
  EXPECT_EQ(snapshot.state, prm::QpState::kRts);
  EXPECT_EQ(snapshot.remote_qpn, b().queue.qpn());
  EXPECT_EQ(snapshot.sw_sq_wqebb_counter, 1u);
}

INSTANTIATE_TEST_SUITE_P(Queues, EachLayout,
                         ::testing::Values(Layout{"collapsed", gda::CqLayout::kCollapsed, UarChoice::kBest},
                                           Layout{"ring", gda::CqLayout::kRing, UarChoice::kBest},
                                           Layout{"blueflame", gda::CqLayout::kCollapsed, UarChoice::kBlueFlame}),
                         [](const auto& test) { return test.param.name; });

TEST_F(DevxQueue, TwoQueuesOfOneContextDoNotDisturbEachOther) {
  connect_pair();
  DevxQp second(a().context, a().pd, quick());
  DevxQp its_peer(b().context, b().pd, quick());
  verbs::connect(second, its_peer);
  gda::SendQueue<ByPointer> one(a().queue.handle());
  gda::SendQueue<ByPointer> two(second.handle());
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto slots_one = one.reserve(kTeam, 1);
    const auto slots_two = two.reserve(kTeam, 1);
    one.write(slots_one[0], {.to = b().remote(), .from = a().local(), .bytes = 8});
    two.write(slots_two[0], {.to = b().remote() + 64, .from = a().local(), .bytes = 8});
    const auto ticket_one = one.submit(kTeam, slots_one);
    const auto ticket_two = two.submit(kTeam, slots_two);
    ASSERT_EQ(one.wait(kTeam, ticket_one).status, Status::kOk) << i;
    ASSERT_EQ(two.wait(kTeam, ticket_two).status, Status::kOk) << i;
  }
}

TEST_F(DevxQueue, LoopbackOnOneDeviceWorks) {
  pair_ = pair_of_endpoints({.devices = {"mlx5_sim0", "mlx5_sim0"}}, quick());
  std::memset(a().data(), 0x33, 8);
  ASSERT_EQ(put({.to = b().remote(), .from = a().local(), .bytes = 8}).status, Status::kOk);
  EXPECT_EQ(std::memcmp(a().data(), b().data(), 8), 0);
}

}  // namespace
}  // namespace marrow::verbs
