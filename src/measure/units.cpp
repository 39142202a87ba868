// SPDX-License-Identifier: Apache-2.0
// The table behind units.h. A document's own units are those with `written`.
#include "measure/units.h"

#include <algorithm>
#include <array>

namespace marrow::measure {
namespace {

enum class Quantity : std::uint8_t {
  kTime,
  kMessages,
  kBytesPerTime,
  kBytes,
  kClock,
  kRatio,
  kPercent,
  kRare,
  kRegisters,
  kBlocks,
  kCycles,
  kConnections
};

struct Unit {
  std::string_view name;
  Quantity quantity;
  double size;  // in the quantity's first unit
  bool written;
  Better better;
};
constexpr std::array<Unit, 19> kUnits{{
    {"us", Quantity::kTime, 1, true, Better::kLess},
    {"ns", Quantity::kTime, 1e-3, false, Better::kLess},
    {"ms", Quantity::kTime, 1e3, false, Better::kLess},
    {"s", Quantity::kTime, 1e6, false, Better::kLess},
    {"M msg/s", Quantity::kMessages, 1, true, Better::kMore},
    {"k msg/s", Quantity::kMessages, 1e-3, false, Better::kMore},
    {"GB/s", Quantity::kBytesPerTime, 1, true, Better::kMore},
    {"MB/s", Quantity::kBytesPerTime, 1e-3, false, Better::kMore},
    {"B", Quantity::kBytes, 1, true, Better::kLess},
    {"KiB", Quantity::kBytes, 1024, false, Better::kLess},
    {"MHz", Quantity::kClock, 1, true, Better::kNeither},
    {"GHz", Quantity::kClock, 1e3, false, Better::kNeither},
    {"x", Quantity::kRatio, 1, true, Better::kNeither},
    {"%", Quantity::kPercent, 1, true, Better::kLess},
    {"per million", Quantity::kRare, 1, true, Better::kLess},
    {"registers", Quantity::kRegisters, 1, true, Better::kLess},
    {"blocks", Quantity::kBlocks, 1, true, Better::kMore},
    {"cycles", Quantity::kCycles, 1, true, Better::kLess},
    {"connections", Quantity::kConnections, 1, true, Better::kMore},
}};

const Unit* find(std::string_view name) {
  const auto* const at = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.name == name; });
  return at == kUnits.end() ? nullptr : at;
}

/// Ratios say by their name what they are; a shift is a check of the clock, and only the delay itself is right.
struct Named {
  std::string_view start;
  Better better;
};
constexpr std::array<Named, 4> kByName{{{"round-trip shift", Better::kNeither},
                                        {"put+completion / mini-gda's", Better::kLess},
                                        {"rate / rate of batch 1", Better::kMore},
                                        {"baseline's enqueue / this one's", Better::kMore}}};

}  // namespace

Better better_of(const Metric& metric) {
  for (const auto& named : kByName) {
    if (std::string_view(metric.name).starts_with(named.start)) return named.better;
  }
  const auto* const unit = find(metric.unit);
  return unit == nullptr ? Better::kNeither : unit->better;
}

bool is_unit(std::string_view unit) {
  const auto* const found = find(unit);
  return found != nullptr && found->written;
}

std::optional<double> factor_between(std::string_view from, std::string_view to) {
  const auto* const a = find(from);
  const auto* const b = find(to);
  if (a == nullptr || b == nullptr || a->quantity != b->quantity) return std::nullopt;
  return a->size / b->size;
}

std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  for (const auto& unit : kUnits) names.emplace_back(unit.name);
  return names;
}

}  // namespace marrow::measure
