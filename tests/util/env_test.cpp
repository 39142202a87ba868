// SPDX-License-Identifier: Apache-2.0
// A variable that cannot be understood is refused by name; it never silently becomes the default.
#include "util/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <functional>
#include <string>

#include "util/error.h"

namespace marrow::util {
namespace {

constexpr const char* kName = "MARROW_TEST_VARIABLE";

class Env : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv(kName); }
  static void set(const std::string& value) { ::setenv(kName, value.c_str(), 1); }

  /// The sentence `read` refuses `value` with; fails when it does not refuse.
  static std::string refusal(const std::string& value, const std::function<void()>& read) {
    set(value);
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.what();
    }
    ADD_FAILURE() << "'" << value << "' was accepted";
    return {};
  }
};

TEST_F(Env, RefusesWhatIsNoWholeNumberOrOutOfRange) {
  const auto read = [] { (void)env_integer(kName, {.fallback = 5, .min = 1, .max = 8}); };
  for (const char* value : {"x", "3x", "2.5", " 3", "0", "9", "0x", "0x-1", "99999999999999999999"}) {
    EXPECT_EQ(refusal(value, read), std::string(kName) + " is '" + value + "': expected a whole number from 1 to 8");
  }
}

TEST_F(Env, ReadsWholeNumbersInBothBases) {
  EXPECT_EQ(env_integer(kName, {.fallback = 5}), 5) << "not set";
  set("");
  EXPECT_EQ(env_integer(kName, {.fallback = 5}), 5) << "set to nothing";
  set("-7");
  EXPECT_EQ(env_integer(kName, {.fallback = 5}), -7);
  set("0x10");
  EXPECT_EQ(env_integer(kName, {.fallback = 5}), 16);
}

TEST_F(Env, RefusesWhatIsNoNumberEvenNan) {
  const auto read = [] { (void)env_real(kName, {.fallback = 0, .min = 0, .max = 1}); };
  for (const char* value : {"nan", "1.5", "-0.1", "0.1%"}) {
    EXPECT_EQ(refusal(value, read), std::string(kName) + " is '" + value + "': expected a number from 0 to 1");
  }
  set("0.25");
  EXPECT_DOUBLE_EQ(env_real(kName, {.fallback = 0, .min = 0, .max = 1}), 0.25);
}

TEST_F(Env, RefusesAnUnknownChoiceAndListsTheKnown) {
  constexpr std::array<std::string_view, 2> kLinks{"infiniband", "roce"};
  EXPECT_EQ(refusal("ethernet", [&] { (void)env_choice(kName, kLinks, 0); }),
            std::string(kName) + " is 'ethernet': expected one of infiniband, roce");
  set("roce");
  EXPECT_EQ(env_choice(kName, kLinks, 0), 1U);
}

TEST_F(Env, ReadsSwitches) {
  EXPECT_TRUE(env_switch(kName, true));
  EXPECT_FALSE(env_switch(kName, false));
  for (const char* value : {"on", "yes", "true", "1"}) {
    set(value);
    EXPECT_TRUE(env_switch(kName, false)) << value;
  }
  for (const char* value : {"off", "no", "false", "0"}) {
    set(value);
    EXPECT_FALSE(env_switch(kName, true)) << value;
  }
  EXPECT_THAT(refusal("maybe", [] { (void)env_switch(kName, true); }), testing::HasSubstr("expected one of off, on"));
}

}  // namespace
}  // namespace marrow::util
