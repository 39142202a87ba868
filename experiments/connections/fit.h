// SPDX-License-Identifier: Apache-2.0
// How far a profile's model is from the paper's points (data/paper/connections-*.json), and the fit of the parameters
// that no single point gives. docs/connections.md says which points were used and which were held out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "model/profile.h"

namespace marrow::experiments {

/// One of the paper's values beside the model's.
struct Compared {
  std::string row;
  std::string metric;
  bool fitted = false;  // else held out
  double paper = 0;
  double model = 0;
  /// How far the model is off, as a fraction of the paper's value.
  [[nodiscard]] double error() const { return model / paper - 1; }
};

/// kShared: the points that fitted() uses; kFitted: all that a parameter was chosen by.
enum class Which : std::uint8_t { kShared, kFitted, kAll };
/// Rows of connections-role, -reuse-payload and -all-to-all that the paper has a value for, by their first pass. Of a
/// range, its middle.
[[nodiscard]] std::vector<Compared> compared_with_paper(const model::Profile& profile, Which which);

/// Sum of the squared logarithms of model / paper.
[[nodiscard]] double squared_error(const std::vector<Compared>& points);

/// A function of parameters whose values should all be 0.
using Residuals = std::function<std::vector<double>(const std::vector<double>&)>;
/// Least squares by Gauss and Newton in the parameters' logarithms, damped (Levenberg, Marquardt); each stays above 0.
/// \param told  after each step that made it better: the parameters and their sum of squares. May be empty.
[[nodiscard]] std::vector<double> least_squares(
    const Residuals& residuals, std::vector<double> start,
    const std::function<void(const std::vector<double>&, double)>& told = {});

/// Fits cache_entries, receive_miss_ns and doorbell_ns, all else as it is.
[[nodiscard]] model::Profile fitted(model::Profile profile,
                                    const std::function<void(const model::Profile&, double)>& told = {});

}  // namespace marrow::experiments
