// SPDX-License-Identifier: Apache-2.0
// When the engine looks again at once and when it sleeps, against a clock and evidence made by hand.
#include "cx7/shim/idle_policy.h"

#include <gtest/gtest.h>

namespace marrow::cx7 {
namespace {

using namespace std::chrono_literals;
using Duration = IdlePolicy::Duration;

class IdlePolicyTest : public ::testing::Test {
 protected:
  IdlePolicy make(SpinRule rule, unsigned cores) {
    return IdlePolicy(rule, cores, [this] {
      ++asked_;
      return Evidence{.crowded = crowded_, .involuntary_switches = switches_};
    });
  }
  static constexpr Duration kNow = 1h;  // any time that is not the clock's start

  std::uint64_t switches_ = 0;
  bool crowded_ = false;
  int asked_ = 0;
};

TEST_F(IdlePolicyTest, NeverSpinsOnTheOnlyCore) {
  IdlePolicy policy = make(SpinRule::kAuto, 1);
  policy.worked(kNow);
  EXPECT_EQ(policy.pause(kNow, true), IdlePolicy::kShortestNap);
  EXPECT_EQ(asked_, 0);
}

TEST_F(IdlePolicyTest, StopsSpinningWhenTheCoreIsTakenAway) {
  IdlePolicy policy = make(SpinRule::kAuto, 2);
  policy.worked(kNow);
  EXPECT_EQ(policy.pause(kNow, true), 0ns);
  switches_ = 1;
  EXPECT_EQ(policy.pause(kNow + 100us, true), IdlePolicy::kShortestNap);
  // The penalty over, it may try again.
  policy.worked(kNow + 2ms);
  EXPECT_EQ(policy.pause(kNow + 2ms, true), 0ns);
}

TEST_F(IdlePolicyTest, LeavesTheCoreToOthersWhileTheyAreMoreThanCores) {
  IdlePolicy policy = make(SpinRule::kAuto, 2);
  policy.worked(kNow);
  crowded_ = true;
  EXPECT_EQ(policy.pause(kNow, true), IdlePolicy::kShortestNap);
  EXPECT_NE(policy.pause(kNow + 900us, true), 0ns);
  // However often it was crowded, it looks again soon.
  for (Duration t = 0us; t < 1s; t += 10us) {
    policy.worked(kNow + t);
    ASSERT_NE(policy.pause(kNow + t, true), 0ns);
  }
  crowded_ = false;
  policy.worked(kNow + 1s + IdlePolicy::kCrowdedPause);
  EXPECT_EQ(policy.pause(kNow + 1s + IdlePolicy::kCrowdedPause, true), 0ns);
}

TEST_F(IdlePolicyTest, TriesMoreSeldomTheMoreOftenTheCoreIsTakenAway) {
  IdlePolicy policy = make(SpinRule::kAuto, 2);
  Duration now = kNow;
  Duration last_penalty = 0ns;
  for (int i = 0; i < 20; ++i) {
    ++switches_;
    policy.worked(now);
    const Duration from = now;
    while (policy.pause(now, true) != 0ns || now == from) {
      now += 100us;
      policy.worked(now);
    }
    EXPECT_GE(now - from, last_penalty);
    last_penalty = now - from;
  }
  EXPECT_GE(last_penalty, IdlePolicy::kLongestPenalty);
  EXPECT_LE(last_penalty, IdlePolicy::kLongestPenalty * 2);
}

TEST_F(IdlePolicyTest, SpinsWithoutAnySleepWhileACoreIsFree) {
  IdlePolicy policy = make(SpinRule::kAuto, 2);
  policy.worked(kNow);
  for (Duration t = 0us; t < IdlePolicy::kSpinAfterWork; t += 10us)
    ASSERT_EQ(policy.pause(kNow + t, true), 0ns) << t.count();
}

TEST_F(IdlePolicyTest, AsksForEvidenceSeldom) {
  IdlePolicy policy = make(SpinRule::kAuto, 2);
  policy.worked(kNow);
  for (Duration t = 0us; t < 1ms; t += 1us) static_cast<void>(policy.pause(kNow + t, true));
  EXPECT_LE(asked_, 1ms / IdlePolicy::kEvidenceEvery + 1);
}

TEST_F(IdlePolicyTest, NapsGrowWithTheTimeWaitedUpToTheLimit) {
  IdlePolicy policy = make(SpinRule::kNever, 8);
  policy.worked(kNow);
  Duration last = 0ns;
  for (Duration t = 0us; t < IdlePolicy::kLongIdle; t += 100us) {
    const Duration nap = policy.pause(kNow + t, true);
    ASSERT_GE(nap, last);
    last = nap;
  }
  EXPECT_EQ(last, IdlePolicy::kLongestNap);
  EXPECT_EQ(policy.pause(kNow + IdlePolicy::kLongIdle + 1us, true), IdlePolicy::kLongIdleNap);
  policy.worked(kNow + 2s);
  EXPECT_EQ(policy.pause(kNow + 2s, true), IdlePolicy::kShortestNap);
}

TEST_F(IdlePolicyTest, SleepsDeeplyWhenNoDoorbellCanCome) {
  IdlePolicy policy = make(SpinRule::kAuto, 8);
  policy.worked(kNow);
  EXPECT_EQ(policy.pause(kNow, false), IdlePolicy::kDeepSleep);
}

TEST_F(IdlePolicyTest, WantsToBeToldOfDoorbellsOnceItHasWaitedLong) {
  for (const SpinRule rule : {SpinRule::kAuto, SpinRule::kNever}) {
    IdlePolicy policy = make(rule, 8);
    policy.worked(kNow);
    EXPECT_FALSE(policy.wants_alarm(kNow + IdlePolicy::kAlarmAfter));
    EXPECT_TRUE(policy.wants_alarm(kNow + IdlePolicy::kAlarmAfter + 1us));
  }
}

TEST_F(IdlePolicyTest, WantsNoAlarmWhileOthersWaitForCores) {
  IdlePolicy policy = make(SpinRule::kAuto, 2);
  policy.worked(kNow);
  crowded_ = true;
  const Duration idle = kNow + IdlePolicy::kAlarmAfter + 1us;
  EXPECT_FALSE(policy.wants_alarm(idle));
  EXPECT_FALSE(policy.wants_alarm(idle + 10s));
  // However long it lasts, the naps stay short.
  EXPECT_EQ(policy.pause(idle + 10s, true), IdlePolicy::kLongestCrowdedNap);
  crowded_ = false;
  EXPECT_TRUE(policy.wants_alarm(idle + 10s + IdlePolicy::kIdleEvidenceEvery));
}

TEST_F(IdlePolicyTest, GivesTheAlarmUpWhenCoresBecomeContended) {
  IdlePolicy policy = make(SpinRule::kAuto, 2);
  policy.worked(kNow);
  const Duration idle = kNow + IdlePolicy::kAlarmAfter + 1us;
  EXPECT_TRUE(policy.wants_alarm(idle));
  crowded_ = true;
  EXPECT_FALSE(policy.wants_alarm(idle + IdlePolicy::kDeepSleep));
}

TEST_F(IdlePolicyTest, AsksForEvidenceSeldomWhileIdle) {
  IdlePolicy policy = make(SpinRule::kAuto, 2);
  policy.worked(kNow);
  for (Duration t = 1s; t < 2s; t += 400us) static_cast<void>(policy.wants_alarm(kNow + t));
  EXPECT_LE(asked_, 1s / IdlePolicy::kIdleEvidenceEvery + 1);
}

TEST_F(IdlePolicyTest, AlwaysMeansAlways) {
  IdlePolicy policy = make(SpinRule::kAlways, 1);
  switches_ = 5;
  EXPECT_EQ(policy.pause(kNow, false), 0ns);
  EXPECT_EQ(policy.pause(kNow + 1h, true), 0ns);
  EXPECT_FALSE(policy.wants_alarm(kNow + 1h));
}

}  // namespace
}  // namespace marrow::cx7
