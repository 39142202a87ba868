// SPDX-License-Identifier: Apache-2.0
// Words to options; the refusals are in run_test.cpp, where a user would see them.
#include "cli/options.h"

#include <gmock/gmock.h>

#include "cli/help.h"
#include "util/error.h"

namespace marrow::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Parse, OrderDoesNotMatter) {
  for (const auto& words : {std::vector<std::string>{"run", "a", "b", "--warmup", "3", "--policy", "x,y"},
                            std::vector<std::string>{"run", "--policy", "x,y", "--warmup=3", "a", "b"}}) {
    const auto run = std::get<RunOptions>(parse(words));
    EXPECT_THAT(run.experiments, ElementsAre("a", "b"));
    EXPECT_THAT(run.policies, ElementsAre("x", "y"));
    EXPECT_EQ(run.warmup, 3U);
    EXPECT_FALSE(run.iterations);
  }
}

TEST(Parse, AnAxisKeepsItsCommas) {
  const auto run = std::get<RunOptions>(parse({"run", "a", "--axis", "bytes=8,16", "--axis", "payload=inline"}));
  EXPECT_THAT(run.axes, ElementsAre("bytes=8,16", "payload=inline"));
}

TEST(Parse, EverythingBehindTheMarkBelongsToTheCommand) {
  const auto sim =
      std::get<SimOptions>(parse({"sim", "--link", "roce", "--lenient", "--", "prog", "--link", "--", "-h"}));
  EXPECT_EQ(sim.link, "roce");
  EXPECT_TRUE(sim.lenient);
  EXPECT_THAT(sim.command, ElementsAre("prog", "--link", "--", "-h"));
}

TEST(Parse, StatisticsAreATableUnlessAFileIsNamed) {
  EXPECT_EQ(std::get<SimOptions>(parse({"sim", "--", "prog"})).stats, "");
  EXPECT_EQ(std::get<SimOptions>(parse({"sim", "--stats", "--", "prog"})).stats, "-");
  EXPECT_EQ(std::get<SimOptions>(parse({"sim", "--stats=f.json", "--trace", "t.json", "--", "prog"})).stats, "f.json");
}

TEST(Parse, HelpBehindTheMarkIsTheCommands) {
  EXPECT_TRUE(std::holds_alternative<SimOptions>(parse({"sim", "--", "prog", "--help"})));
  EXPECT_TRUE(std::holds_alternative<PrintOptions>(parse({"sim", "--help"})));
}

TEST(Parse, TheLaneIsTheHostsUnlessSaidOtherwiseAndNoEngineIsChosen) {
  const auto run = std::get<RunOptions>(parse({"run", "a"}));
  EXPECT_EQ(run.lane, "host");
  EXPECT_EQ(run.engine, "");
  const auto on_gpu = std::get<RunOptions>(parse({"run", "a", "--lane", "gpu:1", "--engine=gpu:0"}));
  EXPECT_EQ(on_gpu.lane, "gpu:1");
  EXPECT_EQ(on_gpu.engine, "gpu:0");
}

TEST(Help, NamesEveryOptionOfRun) {
  for (const auto* option : {"--nic", "--lane", "--engine", "--policy", "--axis", "--iterations", "--warmup",
                             "--timeout", "--runs", "--noise", "--limit", "--samples", "--expect", "--csv", "--json"}) {
    EXPECT_THAT(help_text("run"), HasSubstr(option));
  }
  for (const auto* option : {"--expect", "--baseline", "--only", "--least", "--all", "--csv"}) {
    EXPECT_THAT(help_text("compare"), HasSubstr(option));
  }
  for (const auto* option : {"--output", "--csv"}) EXPECT_THAT(help_text("merge"), HasSubstr(option));
  for (const auto* option : {"--link", "--engine", "--udp", "--pcap", "--faults", "--stats", "--trace", "--lenient"})
    EXPECT_THAT(help_text("sim"), HasSubstr(option));
}

}  // namespace
}  // namespace marrow::cli
