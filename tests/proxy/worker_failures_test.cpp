// SPDX-License-Identifier: Apache-2.0
// How a worker fails: an error CQE becomes the status that the lane sees, at its operation and behind it and nowhere
// else; what makes no sense is never posted; a ring that failed goes on taking, so that nobody is stuck.
#include <gmock/gmock.h>

#include "proxy/one_worker.h"

namespace marrow::proxy::testing {
namespace {

using gda::Status;

struct Translation {
  ibv_wc_status cqe;
  Status status;
};
class ErrorCqe : public ::testing::TestWithParam<Translation> {};
INSTANTIATE_TEST_SUITE_P(, ErrorCqe,
                         ::testing::Values(Translation{IBV_WC_LOC_LEN_ERR, Status::kLocalLength},
                                           Translation{IBV_WC_LOC_QP_OP_ERR, Status::kLocalQpOperation},
                                           Translation{IBV_WC_LOC_PROT_ERR, Status::kLocalProtection},
                                           Translation{IBV_WC_WR_FLUSH_ERR, Status::kFlushed},
                                           Translation{IBV_WC_BAD_RESP_ERR, Status::kBadResponse},
                                           Translation{IBV_WC_LOC_ACCESS_ERR, Status::kLocalAccess},
                                           Translation{IBV_WC_REM_INV_REQ_ERR, Status::kRemoteInvalidRequest},
                                           Translation{IBV_WC_REM_ACCESS_ERR, Status::kRemoteAccess},
                                           Translation{IBV_WC_REM_OP_ERR, Status::kRemoteOperation},
                                           Translation{IBV_WC_RETRY_EXC_ERR, Status::kRetryExceeded},
                                           Translation{IBV_WC_RNR_RETRY_EXC_ERR, Status::kRnrRetryExceeded},
                                           Translation{IBV_WC_REM_ABORT_ERR, Status::kRemoteAborted},
                                           Translation{IBV_WC_GENERAL_ERR, Status::kUnknownError}));

TEST_P(ErrorCqe, ReachesTheLaneAtItsOperationAndBehindItAndNobodyBefore) {
  for (const auto signalled : {Signalled::kEach, Signalled::kLastOfChain}) {
    OneWorker<> one({.batch = 8, .signalled = signalled});
    one.qp().fail_at = 3;
    one.qp().failure = GetParam().cqe;
    std::vector<Ticket> tickets;
    for (std::uint64_t i = 0; i < 6; ++i) tickets.push_back(one.lane().put(put_at(i)));
    one.rounds();
    for (std::uint64_t i = 0; i < 6; ++i) {
      EXPECT_EQ(one.lane().wait(tickets[i]), i < 3 ? Status::kOk : GetParam().status) << i;
    }
    EXPECT_TRUE(one.arrived(0, 24));
    EXPECT_EQ(one.to[24], std::byte{});
  }
}

TEST(WorkerFailure, BehindAFailureNothingIsPostedAndNobodyIsStuck) {
  OneWorker<> one({}, {.depth = 8});
  one.qp().fail_at = 0;
  one.qp().failure = IBV_WC_REM_ACCESS_ERR;
  ASSERT_EQ(one.lane().put(put_at(0)).status, Status::kOk);
  one.rounds();
  const auto posted = one.worker->counters().wrs;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const auto ticket = one.lane().put(put_at(i));
    ASSERT_EQ(ticket.status, Status::kOk);
    EXPECT_EQ(one.lane().wait(ticket), Status::kRemoteAccess);
    one.rounds(1);
  }
  EXPECT_EQ(one.worker->counters().wrs, posted);
  EXPECT_EQ(one.worker->counters().failed, 50u);
}

TEST(WorkerFailure, AnotherRingOfTheSameConnectionIsFlushedAndTheRestGoesOn) {
  OneWorker<> one({}, {.rings = 3, .connections = 2});
  one.qp(0).fail_at = 1;
  one.qp(0).failure = IBV_WC_REM_ACCESS_ERR;
  const auto before = one.lane(1).put(put_at(0, 0));
  one.rounds();
  const auto bad = one.lane(0).put(put_at(1, 0));
  one.rounds();
  const auto behind = one.lane(1).put(put_at(2, 0));
  const auto elsewhere = one.lane(2).put(put_at(3, 1));
  one.rounds();
  EXPECT_EQ(one.lane(1).wait(before), Status::kOk);
  EXPECT_EQ(one.lane(0).wait(bad), Status::kRemoteAccess);
  EXPECT_EQ(one.lane(1).wait(behind), Status::kFlushed);
  EXPECT_EQ(one.lane(2).wait(elsewhere), Status::kOk);
}

TEST(WorkerFailure, AFailureWaitsForWhatStandsBeforeItInTheRing) {
  OneWorker<> one({}, {.connections = 2});
  one.qp(0).hold = true;
  one.qp(1).fail_at = 0;
  one.qp(1).failure = IBV_WC_RETRY_EXC_ERR;
  const auto slow = one.lane().put(put_at(0, 0));
  const auto bad = one.lane().put(put_at(1, 1));
  one.rounds();
  EXPECT_EQ(one.lane().wait(bad), Status::kTimeout) << "not yet";
  one.qp(0).work();
  one.rounds();
  EXPECT_EQ(one.lane().wait(slow), Status::kOk);
  EXPECT_EQ(one.lane().wait(bad), Status::kRetryExceeded);
}

TEST(WorkerFailure, AFlushSaysThatWhatItCoversHasFailed) {
  for (const auto scope : {FlushScope::kConnection, FlushScope::kAllPeers}) {
    OneWorker<> one({}, {.rings = 2});
    one.qp().fail_at = 0;
    one.qp().failure = IBV_WC_REM_ACCESS_ERR;
    ASSERT_EQ(one.lane(0).put(put_at(0)).status, Status::kOk);
    one.rounds();
    const auto flush = one.lane(1).flush(0, scope);
    one.rounds();
    EXPECT_EQ(one.lane(1).wait(flush), Status::kFlushed);
  }
}

TEST(WorkerFailure, WhatMakesNoSenseIsNeverPosted) {
  const auto refuses = [](auto act) {
    OneWorker<> one;
    const auto good = one.lane().put(put_at(0));
    const Ticket bad = act(one.lane());
    const auto behind = one.lane().put(put_at(1));
    one.rounds();
    EXPECT_EQ(one.lane().wait(good), Status::kOk);
    EXPECT_EQ(one.lane().wait(bad), Status::kBadRequest);
    EXPECT_EQ(one.lane().wait(behind), Status::kBadRequest);
    EXPECT_EQ(one.qp().done, 1u);
  };
  constexpr auto most = OneWorker<>::kBytes;
  refuses([](auto& lane) { return lane.put(put_at(0, 1)); });  // no such route
  refuses([](auto& lane) { return lane.put({.from = most - 7, .to = 0, .bytes = 8}); });
  refuses([](auto& lane) { return lane.put({.from = 0, .to = most - 7, .bytes = 8}); });
  refuses([](auto& lane) { return lane.put({.from = kMaxOffset, .to = 0, .bytes = kMaxPutBytes}); });
  refuses([](auto& lane) { return lane.put_signal(put_at(0), OneWorker<>::kSignals); });
  refuses([](auto& lane) { return lane.flush(1, FlushScope::kConnection); });
  refuses([](auto& lane) { return lane.flush(0, static_cast<FlushScope>(3)); });
}

TEST(WorkerFailure, ADescriptorWithAnUnknownOperationIsRefused) {
  OneWorker<> one;
  auto* const words = reinterpret_cast<std::uint64_t*>(one.memories[0]->ring().slots);
  const auto d = encode({.op = static_cast<Op>(7)}, phase_of(0, 64));
  words[0] = d.words[0];
  words[1] = d.words[1];
  one.rounds();
  EXPECT_EQ(one.progress().failure, Status::kBadRequest);
}

TEST(WorkerFailure, AProviderThatTakesOnlySomeOfAChainLosesNoneInSilence) {
  for (const auto signalled : {Signalled::kEach, Signalled::kLastOfChain}) {
    OneWorker<> one({.batch = 4, .signalled = signalled});
    one.qp().accept = 6;
    for (std::uint64_t i = 0; i < 12; ++i) ASSERT_EQ(one.lane().put(put_at(i)).status, Status::kOk);
    one.rounds();
    EXPECT_EQ(one.progress().completed, signalled == Signalled::kEach ? 6u : 4u);
    EXPECT_EQ(one.progress().failure, Status::kLocalQpOperation);
  }
}

TEST(WorkerFailure, ABrokenCqEndsEverything) {
  OneWorker<> one({}, {.rings = 2});
  one.qp().hold = true;
  const auto lost = one.lane(0).put(put_at(0));
  one.rounds(1);
  one.verbs.cq().broken = true;
  one.rounds();
  EXPECT_EQ(one.lane(0).wait(lost), Status::kUnknownError);
  const auto late = one.lane(1).put(put_at(1));
  one.rounds();
  EXPECT_EQ(one.lane(1).wait(late), Status::kFlushed);
}

TEST(WorkerFailure, StoppingSaysFlushedToWhatWasNotTakenAndTimeoutToWhatNeverCame) {
  OneWorker<> one({.take_per_visit = 2, .stop_timeout = std::chrono::milliseconds(5)}, {.rings = 2});
  one.qp().hold = true;
  const auto lost = one.lane(0).put(put_at(0));
  one.rounds(1);
  const auto untaken = one.lane(1).put(put_at(1));
  one.worker->drain();
  EXPECT_EQ(one.lane(0).wait(lost), Status::kTimeout);
  EXPECT_EQ(one.progress(0).failure, Status::kTimeout);
  EXPECT_EQ(one.lane(1).wait(untaken), Status::kFlushed);
  EXPECT_EQ(one.worker->taken(1), 1u);
  EXPECT_EQ(one.freed(1), 1u);
}

}  // namespace
}  // namespace marrow::proxy::testing
