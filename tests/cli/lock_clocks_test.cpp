// SPDX-License-Identifier: Apache-2.0
// --lock-clocks through a stand-in for NVML: refused where it makes no sense, waived without rights, and given back
// after every end that a run can have.
#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/folder.h"

namespace marrow::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class LockClocks : public InFolder {
 protected:
  [[nodiscard]] std::vector<std::string> words(const std::string& policy) const {
    return {"env",
            std::string("MARROW_NVML=") + FAKE_NVML,
            "FAKE_NVML_LOG=" + file("log"),
            "MARROW_TRIAL_GPU=1",
            TRIAL_TOOL,
            "run",
            "locks",
            "--nic",
            "cx7-sim",
            "--lane",
            "gpu",
            "--lock-clocks",
            "--policy",
            policy,
            "--json",
            "-"};
  }
  static json record_of(const Ended& ended) { return json::parse(ended.out)["records"][0]; }
  [[nodiscard]] std::string log() const { return content(file("log")); }
};

TEST_F(LockClocks, IsRefusedWhereNothingLocksAndOnHostLanes) {
  auto ended = tool({"run", "passes", "--lane", "gpu", "--lock-clocks"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("error: --lock-clocks is for what locks the SM clock, and nothing here does"));
  ended = tool({"run", "locks", "--lock-clocks"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("these lanes are CPU threads"));
  EXPECT_THAT(ended.err, HasSubstr("try: marrow run sm-clock --lane gpu --lock-clocks"));
}

TEST_F(LockClocks, WithoutItNothingIsLocked) {
  auto without = words("gives-back");
  std::erase(without, "--lock-clocks");
  EXPECT_EQ(spawn(without).code, 77);
  EXPECT_EQ(log(), "");
}

TEST_F(LockClocks, WithoutRightsTheRowIsWaivedWithOneSentence) {
  auto without = words("gives-back");
  without.insert(without.begin() + 1, "FAKE_NVML_RIGHTS=no");
  const auto ended = spawn(without);
  EXPECT_EQ(ended.code, 77) << ended.err;
  EXPECT_EQ(
      record_of(ended)["reason"],
      "lock the SM clock of the GPU at ffff:19:00.0 to 1500 MHz: Insufficient Permissions (NVML error 4); try the "
      "same as root, or ask who runs this machine");
}

TEST_F(LockClocks, ARowThatEndsGivesTheClockBack) {
  const auto ended = spawn(words("gives-back"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(log(), "lock 1500\nreset\n");
}

TEST_F(LockClocks, ACrashGivesItBack) {
  const auto ended = spawn(words("crashes"));
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(record_of(ended)["reason"], "crashed: Killed");
  EXPECT_EQ(log(), "lock 1500\nreset\n");
}

TEST_F(LockClocks, AHangAndAnInterruptGiveItBack) {
  auto limited = words("hangs");
  limited.insert(limited.end(), {"--timeout", "0.3"});
  EXPECT_EQ(spawn(limited).code, 1);
  EXPECT_EQ(log(), "lock 1500\nreset\n");
  EXPECT_EQ(spawn(words("hangs"), std::chrono::milliseconds(500)).code, 1);
  EXPECT_EQ(log(), "lock 1500\nreset\nlock 1500\nreset\n");
}

TEST_F(LockClocks, EvenTheDeathOfTheWholeToolGivesItBack) {
  std::string command;
  for (const auto& word : words("hangs")) command += "'" + word + "' ";
  (void)spawn({"sh", "-c", command + "& sleep 0.7; kill -9 $!; wait"});
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (log() != "lock 1500\nreset\n" && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(log(), "lock 1500\nreset\n");
}

}  // namespace
}  // namespace marrow::cli
