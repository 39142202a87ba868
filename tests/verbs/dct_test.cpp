// SPDX-License-Identifier: Apache-2.0
// A DCI and several DCTs on the software NIC, through unmodified rdma-core and mini-gda's DC policies: what must be
// refused, then what must arrive. Runs on an InfiniBand and on an Ethernet port.
#include "verbs/dct.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>

#include "marrow/gda/send_queue.h"
#include "util/error.h"
#include "verbs/devx.h"
#include "verbs/endpoint.h"

namespace marrow::verbs {
namespace {

using gda::Status;
using ::testing::HasSubstr;

constexpr gda::Solo kTeam;
constexpr std::uint64_t kKey = 0x4d6172726f77;
using Full = gda::Via<gda::Pointer<gda::SystemFence>, gda::Transport::kDcFull>;
using Compact = gda::Via<gda::Pointer<gda::SystemFence>, gda::Transport::kDcCompact>;

template <class Act>
std::string refusal(Act&& act) {
  try {
    act();
  } catch (const util::Error& error) {
    return error.what();
  }
  return "(nothing was refused)";
}

class DcQueue : public ::testing::Test {
 protected:
  DcQueue() {
    for (int k = 0; k < 3; ++k) targets.emplace_back(there, pd, DctOptions{.key = kKey});
    std::memset(local.data(), 0x5a, local.bytes());
  }
  wire::AddressVector to(std::size_t k) { return address_vector(here, own_pd, targets[k].address()); }

  /// One write of `bytes` to `offset` at the target, and its completion.
  template <class Policy>
  gda::Result put(const wire::AddressVector& av, std::size_t offset, std::uint32_t bytes) {
    gda::SendQueue<Policy> sq(dci.handle());
    sq.aim(av);
    const auto slots = sq.reserve(kTeam, gda::Room{1, Policy::transport == gda::Transport::kDcFull ? 2u : 1u});
    sq.write(slots[0], {.to = mr.remote() + offset, .from = own_mr.local(), .bytes = bytes});
    return sq.wait(kTeam, sq.submit(kTeam, slots));
  }
  bool arrived(std::size_t offset, std::size_t bytes) const {
    return std::memcmp(remote.data() + offset, local.data(), bytes) == 0;
  }

  Context here{"mlx5_sim0"};
  Pd own_pd{here};
  HostBuffer local{Memory::kAlign};
  Mr own_mr{own_pd, local};
  Context there{"mlx5_sim1"};
  Pd pd{there};
  HostBuffer remote{Memory::kAlign};
  Mr mr{pd, remote};
  std::deque<Dct> targets;
  DevxQp dci{here, own_pd, {.service = prm::ServiceType::kDci, .behaviour = {.retry_count = 0}}};
};

TEST_F(DcQueue, ADciIsStartedAndAnRcQueueIsConnected) {
  EXPECT_THAT(refusal([&] { dci.connect(targets[0].address().at); }), HasSubstr("start()"));
  DevxQp rc(here, own_pd, {});
  EXPECT_THAT(refusal([&] { rc.start(); }), HasSubstr("is for a DCI"));
}

// Silence from a target with another key: the retries run out, and the target has counted it.
TEST_F(DcQueue, AWrongKeyEndsInRetriesExceeded) {
  dci.start();
  auto target = targets[0].address();
  target.key ^= 1;
  const auto result = put<Full>(address_vector(here, own_pd, target), 0, 64);
  EXPECT_EQ(result.status, Status::kRetryExceeded);
  EXPECT_FALSE(arrived(0, 64));
  EXPECT_GE(targets[0].key_violations(), 1u);
  EXPECT_EQ(dci.query().state, prm::QpState::kError);
}

TEST_F(DcQueue, ATargetThatIsGoneEndsInRetriesExceeded) {
  dci.start();
  const auto av = to(2);
  targets.pop_back();
  EXPECT_EQ(put<Full>(av, 0, 64).status, Status::kRetryExceeded);
}

TEST_F(DcQueue, AWrongRkeyIsTheTargetsRefusal) {
  dci.start();
  gda::SendQueue<Full> sq(dci.handle());
  const auto av = to(0);
  sq.aim(av);
  const auto slots = sq.reserve(kTeam, gda::Room{1, 2});
  auto bad = mr.remote();
  bad.rkey ^= 1;
  sq.write(slots[0], {.to = bad, .from = own_mr.local(), .bytes = 64});
  EXPECT_EQ(sq.wait(kTeam, sq.submit(kTeam, slots)).status, Status::kRemoteAccess);
  EXPECT_FALSE(arrived(0, 64));
}

TEST_F(DcQueue, EveryTargetGetsItsBytes) {
  dci.start();
  for (std::size_t k = 0; k < 9; ++k) {
    ASSERT_TRUE(put<Full>(to(k % 3), k * 4096, 4096).ok()) << k;
  }
  EXPECT_TRUE(arrived(0, 4096));
  EXPECT_EQ(std::memcmp(remote.data() + 4096, local.data(), 8 * 4096), 0);
}

// 16 bytes of address have no room for a GID: on Ethernet they lead nowhere, and is_compact() says so before.
TEST_F(DcQueue, CompactAddressesAreForInfiniBand) {
  dci.start();
  const bool compact = is_compact(here, targets[0].address());
  EXPECT_EQ(compact, here.port().link == LinkLayer::kInfiniBand);
  if (!compact) return;
  for (std::size_t k = 0; k < 3; ++k) ASSERT_TRUE(put<Compact>(to(k), k * 64, 64).ok());
  EXPECT_TRUE(arrived(0, 192));
}

// Many WQEs to changing targets under one doorbell: in order, each at its place.
TEST_F(DcQueue, DestinationsChangeWithinABatch) {
  dci.start();
  const wire::AddressVector avs[] = {to(0), to(1), to(2)};
  gda::SendQueue<Full> sq(dci.handle());
  constexpr std::uint32_t kBatch = 24;
  const auto slots = sq.reserve(kTeam, gda::Room{kBatch, 2});
  for (std::uint32_t k = 0; k < kBatch; ++k) {
    sq.aim(avs[k % 3]);
    sq.write(slots[k], {.to = mr.remote() + k * 64, .from = own_mr.local() + k, .bytes = 64});
  }
  ASSERT_TRUE(sq.wait(kTeam, sq.submit(kTeam, slots)).ok());
  EXPECT_TRUE(arrived(0, kBatch * 64));
}

}  // namespace
}  // namespace marrow::verbs
