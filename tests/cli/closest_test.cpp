// SPDX-License-Identifier: Apache-2.0
// Which names are offered, and that nothing is offered when nothing is near.
#include "cli/closest.h"

#include <gmock/gmock.h>

namespace marrow::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kNames{"single-op", "ordering", "inline-payload", "timer-check"};

TEST(EditDistance, CountsLettersAndASwapAsOne) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("run", "rnu"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Closest, NothingIsOfferedForNonsense) {
  EXPECT_THAT(closest("zzz", kNames), IsEmpty());
}

TEST(Closest, TyposAndPartsFindTheirName) {
  EXPECT_THAT(closest("singleop", kNames), ElementsAre("single-op"));
  EXPECT_THAT(closest("odrering", kNames), ElementsAre("ordering"));
  EXPECT_THAT(closest("inline", kNames), ElementsAre("inline-payload"));
}

TEST(ClosestText, FewNamesAreAllShownWhenNoneIsNear) {
  EXPECT_EQ(closest_text("zzz", kNames), "; known: single-op, ordering, inline-payload, timer-check");
  EXPECT_EQ(closest_text("zzz", {}), "");
}

}  // namespace
}  // namespace marrow::cli
