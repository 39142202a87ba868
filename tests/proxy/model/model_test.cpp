// SPDX-License-Identifier: Apache-2.0
// Every interleaving of each hand-off's own code, in small: rings that wrap and fill up, producers that race, a worker
// that is slower than they are, stores that become visible in any order that was not forbidden. And the other way
// round: a hand-off, a worker or a machine that is broken on purpose is found out.
#include <gmock/gmock.h>

#include "proxy/model/explorer.h"

namespace marrow::proxy::model {
namespace {

using testing::NameOf;

// Each further 8 bytes of a descriptor are one more store that can come at any time: four say what eight would.
struct Flags32 : testing::Flags64 {
  static constexpr std::string_view name = "flags-32";
  static constexpr std::uint32_t desc_bytes = 32;
};
struct Ready32 : testing::Ready128 {
  static constexpr std::string_view name = "ready-32";
  static constexpr std::uint32_t desc_bytes = 32;
};
struct FencedTuned : Fenced<Tuned, PreFence::kSystem> {
  static constexpr std::string_view name = "tuned, fenced";
};
using testing::NonZero16;
using testing::SharedTuned;
using testing::Words32;
using AllHandOffs = ::testing::Types<Baseline, OwnRing, CachedCredit, PhaseMark, Tuned, Flags32, Words32, NonZero16,
                                     Ready32, SharedTuned>;
using SharedHandOffs = ::testing::Types<Baseline, Flags32, Words32, NonZero16, Ready32, SharedTuned>;

template <class H>
Outcome explore(const Scenario& scenario) {
  const auto outcome = Explorer<H>(scenario).run();
  ::testing::Test::RecordProperty("states", std::to_string(outcome.states));
  return outcome;
}

template <class H>
class OneProducer : public ::testing::Test {};
TYPED_TEST_SUITE(OneProducer, AllHandOffs, NameOf);

TYPED_TEST(OneProducer, PastTwoWrapsOfARingThatFillsUp) {
  const auto outcome = explore<TypeParam>({.puts = 5, .depth = 2});
  EXPECT_EQ(outcome.wrong, "");
  EXPECT_GT(outcome.states, 100u);
}
TYPED_TEST(OneProducer, WithAWorkerThatGivesSlotsBackLate) {
  EXPECT_EQ(explore<TypeParam>({.puts = 5, .depth = 2, .free_every = 2}).wrong, "");
}
TYPED_TEST(OneProducer, IsLostByAWorkerThatGivesBackWhatItHasNotRead) {
  EXPECT_NE(explore<TypeParam>({.puts = 5, .depth = 2, .frees_too_many = 1}).wrong, "");
}

template <class H>
class TwoProducers : public ::testing::Test {};
TYPED_TEST_SUITE(TwoProducers, SharedHandOffs, NameOf);

TYPED_TEST(TwoProducers, RaceForTheSlotsOfARingThatWraps) {
  EXPECT_EQ(explore<TypeParam>({.producers = 2, .puts = 2, .depth = 2}).wrong, "");
}
TYPED_TEST(TwoProducers, RaceWhileTheWorkerIsSlow) {
  EXPECT_EQ(explore<TypeParam>({.producers = 2, .puts = 2, .depth = 2, .free_every = 2}).wrong, "");
}
TYPED_TEST(TwoProducers, AreLostByAWorkerThatGivesBackWhatItHasNotRead) {
  EXPECT_NE(explore<TypeParam>({.producers = 2, .puts = 2, .depth = 2, .frees_too_many = 1}).wrong, "");
}
/// Minutes: ctest -C long -R proxy_model
TYPED_TEST(TwoProducers, DISABLED_RaceThroughTwoWraps) {
  EXPECT_EQ(explore<TypeParam>({.producers = 2, .puts = 2, .others_puts = 2, .depth = 2, .free_every = 2}).wrong, "");
}

template <class H>
class OwnRings : public ::testing::Test {};
using OwnHandOffs = ::testing::Types<OwnRing, CachedCredit, PhaseMark, Tuned>;
TYPED_TEST_SUITE(OwnRings, OwnHandOffs, NameOf);
TYPED_TEST(OwnRings, AreLostWhenASecondProducerUsesThem) {
  EXPECT_NE(explore<TypeParam>({.producers = 2, .puts = 2, .depth = 4}).wrong, "");
}

/// Which hand-offs need their release stores, and which stand stores in any order at all.
template <class H>
std::string without_release() {
  return explore<H>({.puts = 3, .depth = 2, .release_orders = false}).wrong;
}
TEST(WithoutRelease, AReadyWordOvertakesItsDescriptor) {
  EXPECT_EQ(without_release<Baseline>(), "a descriptor that is not its producer's next, or not whole");
  EXPECT_NE(without_release<OwnRing>(), "");
  EXPECT_NE(without_release<CachedCredit>(), "");
}
TEST(WithoutRelease, AMarkInTheFirstWordAloneIsTorn) {
  EXPECT_NE(without_release<NonZero16>(), "");
}
TEST(WithoutRelease, AFlagThatIsClearedTooLateIsLost) {
  EXPECT_NE(without_release<Flags32>(), "");
}
TEST(WithoutRelease, APhaseInEveryWordStandsAnyOrder) {
  EXPECT_EQ(without_release<PhaseMark>(), "");
  EXPECT_EQ(without_release<Tuned>(), "");
  EXPECT_EQ(without_release<Words32>(), "");
}

/// The payload is there when its descriptor is, for the hand-offs that say so, and for the others it need not be.
template <class H>
class Payload : public ::testing::Test {};
using AnyOrder =
    ::testing::Types<Baseline, OwnRing, CachedCredit, PhaseMark, Tuned, Flags32, Words32, NonZero16, FencedTuned>;
TYPED_TEST_SUITE(Payload, AnyOrder, NameOf);
TYPED_TEST(Payload, IsThereIfTheHandOffOrdersIt) {
  const auto outcome = explore<TypeParam>({.puts = 3, .depth = 2, .check_payload = true});
  EXPECT_EQ(outcome.wrong, orders_payload<TypeParam>() ? "" : "the payload came later than its descriptor");
}

}  // namespace
}  // namespace marrow::proxy::model
