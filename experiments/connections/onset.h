// SPDX-License-Identifier: Apache-2.0
// Where a curve begins to fall, as the paper fits it: a plateau joined to a power law, by least squares in log space.
#pragma once

#include <vector>

namespace marrow::experiments {

struct CurvePoint {
  double x = 0;
  double y = 0;
};
struct Onset {
  double x = 0;
  double plateau = 0;
  double exponent = 0;  // y = plateau * (x / onset) ^ exponent from the onset on
};
/// \param curve  ascending in x, all values above 0, at least 4 points.
[[nodiscard]] Onset fit_onset(const std::vector<CurvePoint>& curve);

}  // namespace marrow::experiments
