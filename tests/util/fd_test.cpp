// SPDX-License-Identifier: Apache-2.0
// A descriptor is closed exactly once, by its last owner.
#include "util/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace marrow::util {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}
UniqueFd open_null() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(UniqueFd, HoldsNothingAtFirst) {
  EXPECT_FALSE(UniqueFd{});
}

TEST(UniqueFd, ClosesWhenItGoes) {
  int raw = UniqueFd::kNone;
  {
    const UniqueFd fd = open_null();
    ASSERT_TRUE(fd);
    raw = fd.get();
    EXPECT_TRUE(is_open(raw));
  }
  EXPECT_FALSE(is_open(raw));
}

TEST(UniqueFd, MovingHandsOverAndClosesWhatWasThere) {
  UniqueFd first = open_null();
  UniqueFd second = open_null();
  const int kept = first.get();
  const int closed = second.get();
  second = std::move(first);
  EXPECT_FALSE(is_open(closed));
  EXPECT_EQ(second.get(), kept);
  EXPECT_TRUE(is_open(kept));
}

TEST(UniqueFd, ReleaseLeavesItOpen) {
  UniqueFd fd = open_null();
  const int raw = fd.release();
  EXPECT_FALSE(fd);
  EXPECT_TRUE(is_open(raw));
  const UniqueFd owner(raw);
}

}  // namespace
}  // namespace marrow::util
