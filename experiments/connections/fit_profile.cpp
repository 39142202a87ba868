// SPDX-License-Identifier: Apache-2.0
// fit_profile [PROFILE] [--as-it-is]: fits the three parameters of fit.h, and prints each of the paper's points beside
// the model's. Some minutes on one core; --as-it-is only compares.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "experiments/connections/fit.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

void tell(const model::Profile& profile, double squares) {
  fmt::print("cache_entries {}, receive_miss_ns {:.1f}, doorbell_ns {:.1f}: sum of squares {:.6f}\n",
             profile.cache_entries, profile.receive.miss_ns, profile.doorbell_ns, squares);
  std::fflush(stdout);
}

void compare(const model::Profile& profile) {
  for (const auto& point : compared_with_paper(profile, Which::kAll)) {
    fmt::print("{:<8} {:<85} {:<21} paper {:8.4g} model {:8.4g} {:+6.1f} %\n", point.fitted ? "fitted" : "held out",
               point.row, point.metric, point.paper, point.model, 100 * point.error());
  }
}

int run(const std::vector<std::string_view>& words) {
  std::string name = "cx7-200g";
  bool as_it_is = false;
  for (const auto word : words) {
    if (word == "--as-it-is") as_it_is = true;
    if (word != "--as-it-is") name = word;
  }
  const auto profile = model::find_profile(name);
  compare(as_it_is ? profile : fitted(profile, tell));
  return 0;
}

}  // namespace
}  // namespace marrow::experiments

int main(int count, char** words) {
  try {
    return marrow::experiments::run(std::vector<std::string_view>(words + 1, words + count));
  } catch (const marrow::util::Error& problem) {
    std::fprintf(stderr, "%s\n", marrow::util::describe(problem).c_str());
    return problem.exit_code();
  }
}
