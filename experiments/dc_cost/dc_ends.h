// SPDX-License-Identifier: Apache-2.0
// A DCI on the near end of a bench and several DCTs on its far end: what dc-cost compares with the bench's own RC
// queue. The DCTs share the far end's buffer, so a put arrives at the same place whichever of them it goes to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/common/bench.h"
#include "verbs/dct.h"

namespace marrow::experiments {

class DcEnds {
 public:
  /// \throws util::Error where the devices have no DC transport, or 16 bytes of address do not reach and `compact`.
  DcEnds(const Bench<verbs::DevxQp>& bench, const verbs::DevxQpOptions& options, bool compact);

  [[nodiscard]] const verbs::DevxQp& dci() const { return dci_; }
  [[nodiscard]] const std::vector<wire::AddressVector>& avs() const { return avs_; }

 private:
  std::vector<std::unique_ptr<verbs::Dct>> targets_;
  verbs::DevxQp dci_;
  std::vector<wire::AddressVector> avs_;
};

/// A row of dc-cost as its axes say it.
struct DcRow {
  enum class Transport : std::uint8_t { kRc, kCompact, kFull };
  Transport transport{};
  bool new_destination = false;  // with each put
};
[[nodiscard]] DcRow dc_row(const Point& point);

/// "extra put+completion": the difference of the medians, both measured in this row.
void add_extra(const Context& context, const measure::Samples& rc_ns, const measure::Samples& dc_ns,
               measure::Record& record);
/// "rate ratio": the same destination against a new one with each put, medians, both measured in this row.
void add_ratio(const Context& context, const measure::Samples& same_ns, const measure::Samples& new_ns,
               measure::Record& record);
/// The software NIC's count of connections over `puts`, and what the row expects of it. Nothing on a real NIC.
class ConnectionCount {
 public:
  explicit ConnectionCount(const Context& context);
  void add(const DcRow& row, std::uint64_t puts, measure::Record& record) const;

 private:
  [[nodiscard]] std::uint64_t count() const;
  const Context& context_;
  std::uint64_t before_;
};

}  // namespace marrow::experiments
