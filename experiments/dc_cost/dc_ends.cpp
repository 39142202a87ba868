// SPDX-License-Identifier: Apache-2.0
// See dc_ends.h.
#include "experiments/dc_cost/dc_ends.h"

#include <fmt/format.h>

#include <array>

#include "experiments/dc_cost/dc_cost_policies.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

constexpr std::uint64_t kKey = 0x4d6172726f77;

verbs::DevxQpOptions as_dci(verbs::DevxQpOptions options) {
  options.service = wire::prm::ServiceType::kDci;
  options.dc_key = kKey;
  options.sq_wqebbs = kDcSqWqebbs;
  return options;
}

double median(const measure::Samples& samples) {
  return measure::summarise(samples.values()).p50;
}

}  // namespace

DcEnds::DcEnds(const Bench<verbs::DevxQp>& bench, const verbs::DevxQpOptions& options, bool compact)
    : dci_(bench.a().context, bench.a().pd, as_dci(options)) {
  const auto& near = bench.a();
  const auto& far = bench.b();
  for (std::uint32_t k = 0; k < kDcTargets; ++k) {
    targets_.push_back(std::make_unique<verbs::Dct>(far.context, far.pd, verbs::DctOptions{.key = kKey}));
    const auto& target = targets_.back()->address();
    if (compact && !verbs::is_compact(near.context, target)) {
      throw util::Error(fmt::format("{}: 16 bytes of address do not reach {}", near.context.name(), far.context.name()),
                        util::ErrorKind::kWaived, "an InfiniBand link");
    }
    avs_.push_back(verbs::address_vector(near.context, near.pd, target));
  }
  dci_.start();
}

DcRow dc_row(const Point& point) {
  const auto& transport = point.text("transport");
  return {.transport = transport == "rc"           ? DcRow::Transport::kRc
                       : transport == "dc-compact" ? DcRow::Transport::kCompact
                                                   : DcRow::Transport::kFull,
          .new_destination = point.text("destination") == "new"};
}

void add_extra(const Context& context, const measure::Samples& rc_ns, const measure::Samples& dc_ns,
               measure::Record& record) {
  constexpr double kMicrosecondsPerNs = 1e-3;
  if (rc_ns.size() == 0 || dc_ns.size() == 0) return;
  const std::array extra{(median(dc_ns) - median(rc_ns)) * kMicrosecondsPerNs};
  record.metrics.push_back({"extra put+completion", "us", context.nic_kind, measure::summarise(extra), {}});
}

void add_ratio(const Context& context, const measure::Samples& same_ns, const measure::Samples& new_ns,
               measure::Record& record) {
  if (same_ns.size() == 0 || new_ns.size() == 0) return;
  const std::array ratio{median(new_ns) / median(same_ns)};
  record.metrics.push_back({"rate ratio", "x", context.nic_kind, measure::summarise(ratio), {}});
}

ConnectionCount::ConnectionCount(const Context& context) : context_(context), before_(count()) {}

std::uint64_t ConnectionCount::count() const {
  return context_.nic_count ? context_.nic_count("dc_connects") : 0;
}

void ConnectionCount::add(const DcRow& row, std::uint64_t puts, measure::Record& record) const {
  if (!context_.nic_count || puts == 0) return;
  const auto connected = count() - before_;
  record.counts.totals.push_back({"dc_connects", connected});
  // The first put may find the DCI turned its way, or another.
  const bool held = row.new_destination ? connected == puts || connected + 1 == puts : connected <= 1;
  record.expectations.push_back(
      {fmt::format("the DCI turns {}: {} connections for {} puts",
                   row.new_destination ? "with each put" : "to one destination and stays", connected, puts),
       held});
}

}  // namespace marrow::experiments
