// SPDX-License-Identifier: Apache-2.0
// dc-cost as a user runs it on host lanes: every row verified, the address's segments counted, one connection or one
// for each put; and on Ethernet no row whose address does not reach.
#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "experiments/rows.h"

namespace marrow::cli {
namespace {

using nlohmann::json;

json dc_records() {
  return records_of({"dc-cost", "--iterations", "300"});
}

TEST(DcCost, EachRowHasItsSegmentsAndItsConnections) {
  const std::map<std::string, int> stores{{"rc", 3}, {"dc-compact", 4}, {"dc-full", 6}};
  const auto records = dc_records();
  ASSERT_EQ(records.size(), 5U);
  for (const auto& record : records) {
    const auto transport = record["axes"]["transport"].get<std::string>();
    const bool is_new = record["axes"]["destination"] == "new";
    SCOPED_TRACE(transport + (is_new ? ", new" : ", same"));
    EXPECT_EQ(record["status"], "passed") << record["reason"];
    EXPECT_TRUE(record["verified"]);
    EXPECT_EQ(record["counts"]["wqe_stores"], stores.at(transport));
    const auto metrics = metrics_of(record);
    EXPECT_EQ(metrics.count("message rate"), 1U);
    EXPECT_EQ(metrics.count("extra put+completion"), transport == "rc" ? 0U : 1U);
    EXPECT_EQ(metrics.count("rate ratio"), is_new ? 1U : 0U);
    EXPECT_EQ(record["expect"].size(), transport == "rc" ? 0U : 1U);
  }
}

TEST(DcCost, SixteenBytesOfAddressDoNotReachOverEthernet) {
  ::setenv("MARROW_SIM_LINK", "roce", 1);
  const auto records = dc_records();
  ::unsetenv("MARROW_SIM_LINK");
  ASSERT_EQ(records.size(), 5U);
  for (const auto& record : records) {
    const bool compact = record["axes"]["transport"] == "dc-compact";
    EXPECT_EQ(record["status"], compact ? "waived" : "passed") << record["reason"];
  }
}

}  // namespace
}  // namespace marrow::cli
