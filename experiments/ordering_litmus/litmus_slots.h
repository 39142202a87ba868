// SPDX-License-Identifier: Apache-2.0
// What stands in the far slots after a loop: each put's own bytes, or not.
#pragma once

#include <cstdint>
#include <span>

namespace marrow::experiments {

struct WrongSlots {
  std::uint64_t old = 0;   // no word is the put's: what stood there before, or another put's bytes
  std::uint64_t torn = 0;  // some words are
};

/// `words` holds the slots of puts `first`, `first` + 1, ..., each of `words_a_put` 8-byte words.
[[nodiscard]] WrongSlots wrong_slots(std::span<const std::uint64_t> words, std::uint32_t words_a_put,
                                     std::uint64_t first);

}  // namespace marrow::experiments
