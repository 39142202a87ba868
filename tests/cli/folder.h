// SPDX-License-Identifier: Apache-2.0
// A test of the tool that leaves files: a folder of its own, and the trial tool as its users call it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/spawn.h"

namespace marrow::cli {

inline Ended tool(std::vector<std::string> words) {
  words.insert(words.begin(), TRIAL_TOOL);
  return spawn(words);
}

/// What stands in a file; empty when it is not there.
inline std::string content(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class InFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const suite = ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("marrow_") + suite + "_test_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

}  // namespace marrow::cli
