// SPDX-License-Identifier: Apache-2.0
// The bytes of one input, taken from the front; zero when they run out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace marrow::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }
  template <class Word>
  Word word() {
    Word value{};
    fill(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  /// Fills as much of `to` as there is.
  void fill(std::span<std::byte> to) {
    const auto n = std::min(to.size(), left_.size());
    std::ranges::copy(std::as_bytes(left_.first(n)), to.begin());
    left_ = left_.subspan(n);
  }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace marrow::fuzz
