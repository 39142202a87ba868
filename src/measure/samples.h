// SPDX-License-Identifier: Apache-2.0
// Samples of one quantity, in storage that is reserved before the first one is taken.
// Where it stands: the innermost loop of every experiment writes here and nowhere else.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace marrow::measure {

/// Up to `capacity` samples. Times are in nanoseconds, rates in the unit of their metric.
///
/// One thread. All memory is allocated and touched by the constructor; add() never allocates, so that a page fault
/// of the bookkeeping is never part of a time.
class Samples {
 public:
  explicit Samples(std::size_t capacity);

  /// Keeps one sample. Cost: one store. A sample that does not fit is counted in lost(), which makes a record fail.
  void add(double value) noexcept {
    if (size_ == values_.size()) {
      ++lost_;
      return;
    }
    values_[size_++] = value;
  }

  void clear() noexcept { size_ = lost_ = 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return values_.size(); }
  [[nodiscard]] std::size_t lost() const noexcept { return lost_; }
  [[nodiscard]] std::span<const double> values() const noexcept { return {values_.data(), size_}; }

 private:
  std::vector<double> values_;
  std::size_t size_ = 0;
  std::size_t lost_ = 0;
};

}  // namespace marrow::measure
