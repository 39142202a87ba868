// SPDX-License-Identifier: Apache-2.0
// Levenberg-Marquardt for a handful of parameters and residuals, with derivatives by differences: the model's curves
// have steps (whole sets of the cache), so the differences are not small.
#include <algorithm>
#include <cmath>

#include "experiments/connections/fit.h"

namespace marrow::experiments {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

double square(const Vector& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return sum;
}

/// Solves a * x = b by Gauss's elimination with pivots. `a` is regular: it is damped.
Vector solved(Matrix a, Vector b) {
  const auto n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    auto pivot = i;
    for (auto r = i + 1; r < n; ++r) pivot = std::abs(a[r][i]) > std::abs(a[pivot][i]) ? r : pivot;
    std::swap(a[i], a[pivot]);
    std::swap(b[i], b[pivot]);
    for (auto r = i + 1; r < n; ++r) {
      const double factor = a[r][i] / a[i][i];
      for (auto c = i; c < n; ++c) a[r][c] -= factor * a[i][c];
      b[r] -= factor * b[i];
    }
  }
  for (auto i = n; i-- > 0;) {
    for (auto c = i + 1; c < n; ++c) b[i] -= a[i][c] * b[c];
    b[i] /= a[i][i];
  }
  return b;
}

/// By a step of each parameter's logarithm.
Matrix derivatives(const Residuals& residuals, const Vector& at, const Vector& here) {
  constexpr double kStep = 0.03;
  Matrix by_parameter;
  for (std::size_t p = 0; p < at.size(); ++p) {
    auto moved = at;
    moved[p] *= std::exp(kStep);
    auto there = residuals(moved);
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = (there[i] - here[i]) / kStep;
    by_parameter.push_back(std::move(there));
  }
  return by_parameter;
}

/// The step in logarithms: (J J' + damping) step = -J r.
Vector step_of(const Matrix& j, const Vector& r, double damping) {
  const auto n = j.size();
  Matrix a(n, Vector(n, 0));
  Vector b(n, 0);
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t q = 0; q < n; ++q) {
      for (std::size_t i = 0; i < r.size(); ++i) a[p][q] += j[p][i] * j[q][i];
    }
    for (std::size_t i = 0; i < r.size(); ++i) b[p] -= j[p][i] * r[i];
    a[p][p] += damping * (a[p][p] + 1e-9);
  }
  return solved(std::move(a), std::move(b));
}

}  // namespace

Vector least_squares(const Residuals& residuals, Vector start, const std::function<void(const Vector&, double)>& told) {
  constexpr int kMostSteps = 12;
  constexpr double kEnough = 1e-3;  // of the sum of squares, gained by a step
  auto here = residuals(start);
  double damping = 1e-3;
  for (int i = 0; i < kMostSteps; ++i) {
    const auto j = derivatives(residuals, start, here);
    const double before = square(here);
    bool better = false;
    for (int attempt = 0; attempt < 4 && !better; ++attempt) {
      auto trial = start;
      const auto step = step_of(j, here, damping);
      for (std::size_t p = 0; p < trial.size(); ++p) trial[p] *= std::exp(std::clamp(step[p], -0.5, 0.5));
      auto there = residuals(trial);
      better = square(there) < before;
      damping *= better ? 0.1 : 10;
      if (!better) continue;
      start = std::move(trial);
      here = std::move(there);
    }
    if (!better) break;
    if (told) told(start, square(here));
    if (before - square(here) < kEnough * before) break;
  }
  return start;
}

}  // namespace marrow::experiments
