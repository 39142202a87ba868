// SPDX-License-Identifier: Apache-2.0
// What the paper (arXiv:2610.01380) prints for a metric, so that every table can put it beside the measured value. The
// values are the files data/paper/*.json, compiled in; docs/measuring.md says what they may be compared with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/record.h"

namespace marrow::measure {

/// The paper's values for this metric of this record, one a platform; empty when the paper has none.
/// An entry matches when its experiment, path, policy and metric are the record's and all its axes are among the
/// record's axes.
[[nodiscard]] std::vector<PaperValue> paper_values(const Record& record, std::string_view metric);

/// Fills Metric::paper of every metric.
void add_paper_values(Record& record);

/// One printed value with its row in words, whether Marrow can measure that row or not.
struct PrintedValue {
  std::string row;  // "NVSHMEM 3.7.2, public, rc=2 dci=1"
  std::string metric;
  PaperValue value;
};
/// All that the paper prints for an experiment.
[[nodiscard]] std::vector<PrintedValue> printed_values(std::string_view experiment);

}  // namespace marrow::measure
