// SPDX-License-Identifier: Apache-2.0
// See goodput_results.h.
#include "experiments/goodput/goodput_results.h"

#include <fmt/format.h>

#include <algorithm>

namespace marrow::experiments {
namespace {

constexpr double kFills = 0.9;  // of the reference: the paper's threshold

double add_named(const Context& context, std::string name, const Streamed& streamed, measure::Record& record) {
  std::vector<double> rates;  // bytes a nanosecond are GB/s
  const auto bytes = static_cast<double>(streamed.messages) * streamed.bytes;
  for (const auto ns : streamed.ns) rates.push_back(bytes / ns);
  record.counts.operations += streamed.messages * streamed.ns.size();
  record.metrics.push_back({std::move(name), "GB/s", context.nic_kind, measure::summarise(rates), {}});
  return record.metrics.back().summary.p50;
}

double p50_gbs(const Streamed& streamed) {
  auto sorted = streamed.ns;
  std::sort(sorted.begin(), sorted.end());
  return static_cast<double>(streamed.messages) * streamed.bytes / measure::nearest_rank(sorted, 50);
}

}  // namespace

CargoShape goodput_cargo(std::uint32_t bytes, std::uint32_t lanes) {
  constexpr std::uint32_t kMostMessages = 4096;
  constexpr std::uint32_t kMostBytes = 8 << 20;
  const auto messages = std::clamp(kMostBytes / bytes, 8U, kMostMessages);
  return {.lanes = std::min(lanes, messages), .places = std::max(1U, messages / lanes), .bytes = bytes};
}

void add_goodput(const Context& context, const Streamed& streamed, measure::Record& record) {
  (void)add_named(context, fmt::format("goodput, {} B", streamed.bytes), streamed, record);
}

double add_reference(const Context& context, const Streamed& streamed, measure::Record& record) {
  return add_named(context, "reference, 1 MiB writes of mini-gda", streamed, record);
}

void add_first_size(const Context& context, const std::vector<Streamed>& sizes, double reference,
                    measure::Record& record) {
  const auto first = std::find_if(sizes.begin(), sizes.end(),
                                  [&](const Streamed& size) { return p50_gbs(size) >= kFills * reference; });
  if (!sizes.empty()) {
    tell_limit(context, fmt::format("at {} B", sizes.front().bytes), sizes.front().busy, record);
  }
  if (first == sizes.end()) {
    record.warnings.push_back(
        fmt::format("no size up to {} B reaches 90 % of {:.2f} GB/s", kGoodputBytes.back(), reference));
    return;
  }
  const std::array bytes{static_cast<double>(first->bytes)};
  record.metrics.push_back(
      {"first size at 90 % of the reference", "B", context.nic_kind, measure::summarise(bytes), {}});
}

}  // namespace marrow::experiments
