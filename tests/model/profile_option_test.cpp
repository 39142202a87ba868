// SPDX-License-Identifier: Apache-2.0
// --profile as a user meets it: off by default, refused where it would change nothing, and named in every record.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/spawn.h"

namespace marrow::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

Ended tool(std::vector<std::string> words) {
  words.insert(words.begin(), CONNECTIONS_TOOL);
  return spawn(words);
}

TEST(ProfileOption, WithoutItTheModelIsWaivedWithWhatToTry) {
  const auto ended = tool({"run", "connections-role", "--axis", "connections=64"});
  EXPECT_EQ(ended.code, 77) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("none was named"));
  EXPECT_THAT(ended.out, HasSubstr("--profile cx7-200g\n"));
}

TEST(ProfileOption, WhatIsMeasuredRefusesOne) {
  const auto ended = tool({"run", "is-measured", "--profile", "cx7-200g"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("error: is-measured is measured, not computed from a profile"));
  EXPECT_THAT(ended.err, HasSubstr("try: marrow run is-measured without --profile"));
}

TEST(ProfileOption, AnUnknownProfileIsRefusedBeforeAnythingRuns) {
  const auto ended = tool({"run", "connections-role", "--profile", "cx8"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("error: no profile 'cx8'; known: cx7-200g"));
  EXPECT_THAT(ended.out, Not(HasSubstr("connections-role")));
}

TEST(ProfileOption, WhatIsNoRegularFileIsRefused) {
  for (const auto* word : {"/dev/zero", "./"}) {
    const auto ended = tool({"run", "connections-role", "--profile", word});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err,
                HasSubstr(*word == '.' ? "error: ./ is a folder" : "error: /dev/zero is not a regular file"));
    EXPECT_THAT(ended.err, HasSubstr("try: --profile cx7-200g"));
  }
}

TEST(ProfileOption, TheTableSaysInPlainWordsThatItIsAModel) {
  const auto ended = tool({"run", "connections-role", "--profile", "cx7-200g", "--axis", "connections=64"});
  EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("a model, not a NIC: profile cx7-200g"));
  EXPECT_THAT(ended.out, HasSubstr("time: model - computed"));
  EXPECT_THAT(ended.out, HasSubstr("P-H100 152"));
  EXPECT_THAT(ended.out, HasSubstr("3 of them a model's, which moves no bytes"));
}

TEST(ProfileOption, TheListSaysWhatIsComputed) {
  EXPECT_THAT(tool({"list"}).out, HasSubstr("computed, with --profile NAME"));
  const auto one = tool({"list", "connections-role"});
  EXPECT_THAT(one.out, HasSubstr("none: it is computed"));
  EXPECT_THAT(one.out, HasSubstr("3 passes of the model a row"));
}

TEST(ProfileOption, EveryRecordNamesIt) {
  const auto ended =
      tool({"run", "connections-role", "--profile", "cx7-200g", "--axis", "connections=64", "--json", "-"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const auto& record : json::parse(ended.out)["records"]) {
    EXPECT_EQ(record["nic"], "model:cx7-200g");
    EXPECT_EQ(record["lane"], "none");
    EXPECT_EQ(record["verified"], false);
    EXPECT_TRUE(record["warmup"].is_null());
    for (const auto& metric : record["metrics"]) EXPECT_EQ(metric["kind"], "model");
  }
}

}  // namespace
}  // namespace marrow::cli
