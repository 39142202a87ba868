// SPDX-License-Identifier: Apache-2.0
// An error must reach the terminal with its sentence and hint, and the shell with its kind.
#include "util/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace marrow::util {
namespace {

TEST(Error, ExitCodeFollowsTheKind) {
  EXPECT_EQ(Error("it broke").exit_code(), 1);
  EXPECT_EQ(Error("no such option", ErrorKind::kUsage).exit_code(), 2);
  EXPECT_EQ(Error("no GPU", ErrorKind::kWaived).exit_code(), 77);
}

TEST(Error, DescribesWithTheHintOnlyWhenThereIsOne) {
  EXPECT_EQ(describe(Error("it broke")), "error: it broke");
  EXPECT_EQ(describe(Error("no device named x", ErrorKind::kFailed, "marrow list")),
            "error: no device named x\ntry: marrow list");
}

TEST(Error, RemembersWhereItWasMade) {
  const Error error("it broke");
  EXPECT_TRUE(std::string(error.place().file).ends_with("error_test.cpp"));
}

TEST(Error, SystemErrorReadsAsOneLowerCaseSentence) {
  EXPECT_STREQ(system_error("open /nowhere", ENOENT).what(), "open /nowhere: no such file or directory");
}

}  // namespace
}  // namespace marrow::util
