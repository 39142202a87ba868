// SPDX-License-Identifier: Apache-2.0
// Two documents, metric by metric: ratio, its interval, and whether that is better, worse or noise. docs/comparing.md
// says what each test knows and does not know.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/document.h"
#include "measure/units.h"

namespace marrow::measure {

enum class Verdict : std::uint8_t { kBetter, kWorse, kDiffers, kNoise, kUntested };
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// How a difference was tested.
enum class Method : std::uint8_t { kRuns, kOneAgainstRuns, kBlocks, kExact, kNone };
[[nodiscard]] std::string_view name_of(Method method);
/// One sentence for people: what the test knows of.
[[nodiscard]] std::string_view sentence_of(Method method);

struct Compared {
  std::string row;  // row_of() of both records
  std::string experiment;
  std::string metric;
  std::string unit;
  Kind kind = Kind::kHostLane;
  double a = 0;  // p50s
  double b = 0;
  std::optional<double> ratio;       // b / a; none where one is not above zero
  std::optional<Interval> interval;  // of the ratio; of b - a where there is no ratio
  Verdict verdict = Verdict::kUntested;
  Method test = Method::kNone;
};

struct Comparison {
  std::vector<Compared> metrics;
  std::vector<std::string> losses;  // rows that passed in a and not in b: each counts as worse
  std::vector<std::string> notes;   // other machines, other builds, rows or counts that differ

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] bool any_worse() const;
};

struct CompareLimits {
  double confidence = 0.99;  // of the interval
  double least = 0.03;       // differences below this share are noise, whatever the interval
};

/// Rows are matched by experiment, path, policy and axes.
/// \throws util::Error of kind kUsage when the documents hold different experiments or kinds of time.
[[nodiscard]] Comparison compare(const Document& a, const Document& b, const CompareLimits& limits = {});

}  // namespace marrow::measure
