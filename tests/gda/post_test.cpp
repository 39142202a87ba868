// SPDX-License-Identifier: Apache-2.0
// The three verbs in one, and the room that a queue remembers: on a NIC that looks when told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gda/fake_nic.h"
#include "gda/tested.h"
#include "marrow/gda/shared_queue.h"

namespace marrow::gda {
namespace {

TEST(Post, BehindAnOpenReservationStoresNothing) {
  FakeNic nic;
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto put = [&](std::uint64_t value) {
    return sq.post(kSolo, Room{}, [&](const Slots& s) { sq.write_value(s[0], nic.remote(to), value); });
  };
  const auto slots = sq.reserve(kSolo, 1);
  const auto refused = put(1);
  EXPECT_EQ(sq.wait(kSolo, refused).status, Status::kBadRequest);
  EXPECT_EQ(nic.pi(), 0u);
  sq.write_value(slots[0], nic.remote(to), 2);
  EXPECT_EQ(sq.submit(kSolo, slots).status, Status::kOk);
  const auto ticket = put(3);
  EXPECT_EQ(nic.step(), 2u);
  EXPECT_TRUE(sq.wait(kSolo, ticket).ok());
  EXPECT_EQ(to, 3u);
}

TEST(Post, WithoutRoom) {
  FakeNic nic({.sq_wqebbs = 4});
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto put = [&](std::uint32_t wqes) {
    return sq.post(kSolo, Room{wqes}, [&](const Slots& s) {
      for (std::uint32_t i = 0; i < wqes; ++i) sq.write_value(s[i], nic.remote(to), i);
    });
  };
  EXPECT_EQ(put(5).status, Status::kBadRequest);
  EXPECT_EQ(put(0).status, Status::kBadRequest);
  const auto ticket = put(4);
  EXPECT_EQ(put(1).status, Status::kTimeout) << "the NIC sleeps";
  EXPECT_EQ(nic.step(), 4u) << "and the ring was left alone";
  EXPECT_TRUE(sq.wait(kSolo, ticket).ok());
  EXPECT_EQ(put(4).status, Status::kOk);
}

// A CQE may say both: that all before its WQE went well, which makes room, and that the WQE did not.
TEST(Post, AnErrorThatMadeRoomIsSeenByTheNextReservation) {
  FakeNic nic({.sq_wqebbs = 8});
  std::uint64_t to = 0;
  SendQueue<Tested<GpuFence>> sq{nic.qp()};
  const auto slots = sq.reserve(kSolo, 5);
  for (std::uint32_t i = 0; i < 5; ++i) {
    auto target = nic.remote(to);
    if (i == 4) target.rkey ^= 1;
    sq.write_value(slots[i], target, i);
  }
  EXPECT_EQ(sq.submit(kSolo, slots).status, Status::kOk);
  nic.step();
  EXPECT_TRUE(sq.reserve(kSolo, 5).ok()) << "four are complete";
  EXPECT_EQ(sq.reserve(kSolo, 1).status, Status::kRemoteAccess);
}

/// 20 puts in a ring of 8, by the three verbs or by post(), each waited for.
template <class P>
Counts twenty_puts(bool at_once) {
  FakeNic nic({.sq_wqebbs = 8});
  std::uint64_t to[20] = {};
  SendQueue<Tested<P>, CountingProbe> sq{nic.qp()};
  for (std::uint32_t i = 0; i < 20; ++i) {
    const auto write = [&](const Slots& s) { sq.write_value(s[0], nic.remote(to[i]), i + 1); };
    Ticket ticket;
    if (at_once) {
      ticket = sq.post(kSolo, Room{}, write);
    } else {
      const auto slots = sq.reserve(kSolo, 1);
      write(slots);
      ticket = sq.submit(kSolo, slots);
    }
    nic.step();
    EXPECT_TRUE(sq.wait(kSolo, ticket).ok()) << i;
    EXPECT_EQ(to[i], i + 1);
  }
  return sq.probe().counts;
}

TEST(Post, IsTheThreeVerbs) {
  EXPECT_EQ(twenty_puts<GpuFence>(true), twenty_puts<GpuFence>(false));
  EXPECT_EQ(twenty_puts<Shared<GpuFence>>(true), twenty_puts<Shared<GpuFence>>(false));
  EXPECT_EQ(twenty_puts<Locked<GpuFence>>(true), twenty_puts<Locked<GpuFence>>(false));
}

}  // namespace
}  // namespace marrow::gda
