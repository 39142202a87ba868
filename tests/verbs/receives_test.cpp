// SPDX-License-Identifier: Apache-2.0
// Writes with immediate between two DEVX queues on the software NIC: what is refused, what a sender meets that finds no
// receive, then what must arrive. Runs on an InfiniBand and on an Ethernet port.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <optional>

#include "marrow/gda/receive_queue.h"
#include "marrow/gda/send_queue.h"
#include "util/error.h"
#include "verbs/endpoint.h"
#include "verbs/simulated_nic.h"

namespace marrow::verbs {
namespace {

using gda::Status;
using ::testing::HasSubstr;

constexpr gda::Solo kTeam;
constexpr std::uint32_t kReceives = 16;

DevxQpOptions receiving(DevxQpOptions options = {}) {
  options.receives = kReceives;
  options.timeout = std::chrono::seconds(5);
  return options;
}

class Receives : public ::testing::Test {
 protected:
  void connect_pair(const DevxQpOptions& options = receiving()) {
    pair_ = pair_of_endpoints({.devices = {"mlx5_sim0", "mlx5_sim1"}}, options);
    sender_.emplace(pair_.a->queue.handle());
    receiver_.emplace(pair_.b->queue.receive_ring());
  }
  /// The word `value` to the peer's first bytes, and `imm` to its lane.
  gda::Result notify(std::uint64_t value, std::uint32_t imm) {
    std::memcpy(pair_.a->data(), &value, sizeof value);
    const auto slots = sender_->reserve(kTeam, 1);
    sender_->write_imm(slots[0], {.to = pair_.b->remote(), .from = pair_.a->local(), .bytes = 8}, imm);
    return sender_->wait(kTeam, sender_->submit(kTeam, slots));
  }
  [[nodiscard]] std::uint64_t word() const {
    std::uint64_t value = 0;
    std::memcpy(&value, pair_.b->data(), sizeof value);
    return value;
  }

  PairOf<DevxQp> pair_;
  std::optional<gda::SendQueue<gda::Pointer<gda::SystemFence>>> sender_;
  std::optional<gda::ReceiveQueue> receiver_;
};

TEST_F(Receives, RingsOfWrongSizesAreRefused) {
  const Context context("mlx5_sim0");
  const Pd pd(context);
  for (const std::uint32_t receives : {1u, 2u, 12u, 1u << 16}) {
    try {
      DevxQp(context, pd, {.receives = receives});
      ADD_FAILURE() << receives << " receives were taken";
    } catch (const util::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("is not a power of two from 4 to 32768"));
    }
  }
  try {
    DevxQp(context, pd, {.service = wire::prm::ServiceType::kDci, .receives = 4});
    ADD_FAILURE() << "a DCI got an RQ";
  } catch (const util::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a DCI has no RQ"));
  }
}

TEST_F(Receives, NoMoreArePostedThanTheRingHolds) {
  connect_pair();
  EXPECT_FALSE(receiver_->post(kReceives + 1));
  EXPECT_TRUE(receiver_->post(kReceives));
  EXPECT_FALSE(receiver_->post(1));
}

TEST_F(Receives, WaitingForWhatWasNotPostedIsABadRequest) {
  connect_pair();
  EXPECT_EQ(receiver_->wait().result.status, Status::kBadRequest);
}

TEST_F(Receives, WaitingForWhatIsNotSentTimesOut) {
  auto options = receiving();
  options.timeout = std::chrono::milliseconds(20);
  connect_pair(options);
  ASSERT_TRUE(receiver_->post(1));
  EXPECT_EQ(receiver_->wait().result.status, Status::kTimeout);
}

TEST_F(Receives, ASenderThatFindsNoReceiveEndsWithThatError) {
  auto options = receiving();
  options.behaviour.rnr_retry = 2;
  options.behaviour.min_rnr_nak = 1;
  connect_pair(options);
  EXPECT_EQ(notify(7, 1).status, Status::kRnrRetryExceeded);
  EXPECT_EQ(word(), 0u);
}

TEST_F(Receives, AnImmediateTellsOfItsBytes) {
  connect_pair();
  ASSERT_TRUE(receiver_->post(2));
  ASSERT_EQ(notify(0x1122334455667788, 0xa1b2c3d4).status, Status::kOk);
  const auto notice = receiver_->wait();
  EXPECT_EQ(notice.result.status, Status::kOk);
  EXPECT_EQ(notice.imm, 0xa1b2c3d4u);
  EXPECT_EQ(notice.bytes, 8u);
  EXPECT_EQ(word(), 0x1122334455667788u);
}

TEST_F(Receives, IndicesWrapAndNoneIsLostOrDoubled) {
  connect_pair();
  for (std::uint32_t i = 1; i <= 70'000; ++i) {
    ASSERT_TRUE(receiver_->post(1));
    ASSERT_EQ(notify(i, ~i).status, Status::kOk) << i;
    const auto notice = receiver_->wait();
    ASSERT_TRUE(notice.result.ok()) << i;
    ASSERT_EQ(notice.imm, ~i);
    ASSERT_EQ(word(), i);
  }
}

TEST_F(Receives, TheNextOwnerGoesOnWhereTheLastOneStopped) {
  connect_pair();
  ASSERT_TRUE(receiver_->post(3));
  ASSERT_TRUE(notify(1, 10).ok());
  ASSERT_EQ(receiver_->wait().imm, 10u);
  receiver_.reset();
  ASSERT_TRUE(notify(2, 20).ok());
  receiver_.emplace(pair_.b->queue.receive_ring());
  EXPECT_EQ(receiver_->wait().imm, 20u);
}

}  // namespace
}  // namespace marrow::verbs
