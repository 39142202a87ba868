// SPDX-License-Identifier: Apache-2.0
// The paper's values arrive with unit, platform and source, and only where the configuration is the same.
#include "measure/paper.h"

#include <gtest/gtest.h>

#include "measure/sample_records.h"

namespace marrow::measure {
namespace {

TEST(Paper, AnotherConfigurationHasNoValue) {
  auto record = sample_record();
  record.axes[0].value = std::int64_t{16};
  EXPECT_TRUE(paper_values(record, "issue").empty());
  record = sample_record();
  record.path = "verbs";
  EXPECT_TRUE(paper_values(record, "issue").empty());
  EXPECT_TRUE(paper_values(sample_record(), "no such metric").empty());
}

TEST(Paper, Table3GivesBothPlatforms) {
  const auto values = paper_values(sample_record(), "issue");
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].value, 0.70);
  EXPECT_EQ(values[0].platform, "P-IB");
  EXPECT_EQ(values[0].unit, "us");
  EXPECT_EQ(values[0].source, "arXiv:2610.01380 Table 3");
  EXPECT_EQ(values[1].value, 0.77);
  EXPECT_EQ(values[1].platform, "P-GB200");
}

TEST(Paper, ARangeKeepsBothEnds) {
  auto record = sample_record();
  record.experiment = "timer-check";
  record.axes = {{"delay_us", std::int64_t{50}}};
  const auto values = paper_values(record, "round-trip shift");
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].value, 49.6);
  EXPECT_EQ(values[0].to, 50.3);
}

TEST(Paper, SevenOrderingsWithTwoMetricsEach) {
  std::size_t found = 0;
  for (const auto* policy :
       {"none", "gpu-fence", "gpu-fence-dbrec", "gpu-release-store", "threadfence", "sys-release-store", "sys-fence"}) {
    Record record{.experiment = "ordering", .path = "mini-gda", .policy = policy};
    found += paper_values(record, "issue").size() + paper_values(record, "put+completion").size();
  }
  EXPECT_EQ(found, 28U);
}

TEST(Paper, APrintedValueNamesItsRowEvenWhereMarrowHasNone) {
  EXPECT_TRUE(printed_values("no-such-experiment").empty());
  const auto values = printed_values("dci-pool");
  ASSERT_EQ(values.size(), 6U);
  EXPECT_EQ(values[4].row, "NVSHMEM 3.7.2, public, rc=2 dci_asked=0 dci=153");
  EXPECT_EQ(values[4].metric, "put+completion");
  EXPECT_EQ(values[4].value.value, 94.88);
  EXPECT_EQ(values[4].value.source, "arXiv:2610.01380 Table 8");
}

TEST(Paper, FillsEveryMetricOfARecord) {
  auto record = sample_record();
  add_paper_values(record);
  EXPECT_EQ(record.metrics[1].paper.at(0).value, 4.03);
}

}  // namespace
}  // namespace marrow::measure
