// SPDX-License-Identifier: Apache-2.0
// Names and sums of counts.h. The promise is computed from the recipe table (gda/policy.h), not from the probe.
#include "experiments/common/counts.h"

#include <array>

namespace marrow::experiments {
namespace {

struct Named {
  const char* name;
  std::uint64_t gda::Counts::*member;
};
constexpr std::array<Named, 11> kNames{{{"wqes", &gda::Counts::wqes},
                                        {"wqebbs", &gda::Counts::wqebbs},
                                        {"wqe_stores", &gda::Counts::wqe_stores},
                                        {"doorbells", &gda::Counts::doorbells},
                                        {"dbrec_writes", &gda::Counts::dbrecs},
                                        {"gpu_fences", &gda::Counts::gpu_fences},
                                        {"system_fences", &gda::Counts::system_fences},
                                        {"release_stores", &gda::Counts::release_stores},
                                        {"cqes", &gda::Counts::cqes},
                                        {"acquire_fences", &gda::Counts::acquire_fences},
                                        {"atomics", &gda::Counts::atomics}}};

void add_fence(gda::Counts& counts, gda::FenceKind kind, std::uint64_t operations) {
  if (kind == gda::FenceKind::kNone || kind == gda::FenceKind::kBlock) return;
  (kind == gda::FenceKind::kSystem ? counts.system_fences : counts.gpu_fences) += operations;
}

}  // namespace

measure::Counts counts_of(const gda::Counts& counts, std::uint64_t operations) {
  measure::Counts result{.operations = operations};
  for (const auto& named : kNames) result.totals.push_back({named.name, counts.*named.member});
  return result;
}

gda::Counts promised_counts(const gda::Recipe& recipe, std::uint32_t ds, std::uint64_t operations) {
  gda::Counts counts{.wqes = operations, .wqe_stores = operations * ds, .wqebbs = operations * wire::wqebbs_of(ds)};
  add_fence(counts, recipe.before_dbrec, operations);
  add_fence(counts, recipe.before_doorbell, operations);
  counts.release_stores =
      operations * (std::uint64_t{gda::is_release(recipe.dbrec)} + std::uint64_t{gda::is_release(recipe.doorbell)});
  counts.dbrecs = counts.doorbells = counts.cqes = operations;
  counts.acquire_fences = recipe.poll == gda::Scope::kNone ? 0 : operations;
  return counts;
}

gda::Counts counts_times(const gda::Counts& each, std::uint64_t operations) {
  gda::Counts all;
  for (const auto& named : kNames) all.*named.member = each.*named.member * operations;
  return all;
}

void expect_counts(measure::Record& record, const gda::Counts& seen, const gda::Counts& promised) {
  std::string differences;
  for (const auto& named : kNames) {
    if (seen.*named.member == promised.*named.member) continue;
    differences += "; " + std::string(named.name) + " " + std::to_string(seen.*named.member) + " instead of " +
                   std::to_string(promised.*named.member);
  }
  if (differences.empty()) return;
  record.expectations.push_back({"counts are those of the recipe" + differences, false});
}

}  // namespace marrow::experiments
