// SPDX-License-Identifier: Apache-2.0
// What the experiments on connections share: the paper's traffic as the model takes it, passes with a seed each,
// metrics.
#pragma once

#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "model/engine.h"

namespace marrow::experiments {

/// Threads of an endpoint that post: the paper's fixed grid, whose size it does not state. [guess]
inline constexpr std::uint32_t kWarps = 256;
inline constexpr std::uint32_t kPeers = 4;
inline constexpr std::uint32_t kPasses = 3;
inline constexpr const char* kModelNeeds = "a NIC's profile: --profile cx7-200g; no NIC and no GPU, for it is computed";

/// What the eight endpoints of the paper's role experiment do: "send" (one sender), "receive" (one target), "both".
/// \param connections  active at the endpoint in the middle, each way.
[[nodiscard]] model::Traffic role_traffic(const std::string& role, std::uint32_t connections);

struct AllToAll {
  std::uint32_t endpoints = 0;
  std::uint32_t per_peer = 0;  // connections
  std::uint32_t visit = 1;
};
/// Each endpoint with `peers` of the others; the paper's control has two.
[[nodiscard]] model::Traffic all_to_all_traffic(const AllToAll& setting, std::uint32_t peers);

/// Runs of the model for one record.
class Passes {
 public:
  /// Tells the header and the record what computes them.
  /// \throws util::Error of kind kWaived where the context has no profile.
  Passes(const Context& context, measure::Record& record);

  /// One pass, which is not the record's own: a control. \param pass  0 ... count() - 1, its seed.
  [[nodiscard]] model::Rates one(model::Traffic traffic, std::uint32_t pass) const;
  /// Every pass; counted as the record's operations.
  [[nodiscard]] std::vector<model::Rates> all(const model::Traffic& traffic);
  void add(const std::string& name, const std::string& unit, const std::vector<double>& values);
  /// What the cache lacked, in entries a message.
  void add_misses(const std::vector<model::Rates>& passes);

  [[nodiscard]] std::uint32_t count() const noexcept { return context_.iterations; }

 private:
  const Context& context_;
  measure::Record& record_;
};

/// The rate of each sender, or of the one target all together, in every pass.
[[nodiscard]] std::vector<double> rates_of_role(const std::string& role, const std::vector<model::Rates>& passes);
[[nodiscard]] double mean_of(const std::vector<double>& values);
[[nodiscard]] double median_of(std::vector<double> values);
[[nodiscard]] std::vector<double> scaled(std::vector<double> values, double factor);
/// A point's axis as a count.
[[nodiscard]] std::uint32_t count_of(const Point& point, std::string_view axis);

}  // namespace marrow::experiments
