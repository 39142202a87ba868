// SPDX-License-Identifier: Apache-2.0
// Experiments as a user runs them on the software NIC: the tool's exit and output, and the records of its document.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/spawn.h"

namespace marrow::cli {

inline Ended run(std::vector<std::string> words) {
  words.insert(words.begin(), {MARROW_TOOL, "run", "--nic", "cx7-sim", "--json", "-"});
  return spawn(words);
}

/// Expects exit code 0.
inline nlohmann::json records_of(const std::vector<std::string>& words) {
  const auto ended = run(words);
  EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
  return nlohmann::json::parse(ended.out)["records"];
}

inline std::map<std::string, nlohmann::json> metrics_of(const nlohmann::json& record) {
  std::map<std::string, nlohmann::json> metrics;
  for (const auto& metric : record["metrics"]) metrics[metric["name"]] = metric;
  return metrics;
}

}  // namespace marrow::cli
