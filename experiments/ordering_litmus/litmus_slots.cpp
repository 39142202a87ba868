// SPDX-License-Identifier: Apache-2.0
// See litmus_slots.h. The stamps differ in every word of every put (common/stamp.h).
#include "experiments/ordering_litmus/litmus_slots.h"

#include "experiments/common/stamp.h"

namespace marrow::experiments {

WrongSlots wrong_slots(std::span<const std::uint64_t> words, std::uint32_t words_a_put, std::uint64_t first) {
  WrongSlots wrong;
  for (std::size_t at = 0; at + words_a_put <= words.size(); at += words_a_put) {
    const auto put = first + at / words_a_put;
    std::uint32_t right = 0;
    for (std::uint32_t w = 0; w < words_a_put; ++w) right += words[at + w] == stamp_word(put, w) ? 1 : 0;
    if (right == words_a_put) continue;
    ++(right == 0 ? wrong.old : wrong.torn);
  }
  return wrong;
}

}  // namespace marrow::experiments
