// SPDX-License-Identifier: Apache-2.0
// What ordering-litmus takes for wrong, on bytes that are wrong in known ways.
#include "experiments/ordering_litmus/litmus_slots.h"

#include <gtest/gtest.h>

#include <vector>

#include "experiments/common/stamp.h"

namespace marrow::experiments {
namespace {

constexpr std::uint64_t kFirst = 1000;
constexpr std::uint32_t kWords = 8;

/// The slots of ten puts as they should be.
std::vector<std::uint64_t> right() {
  std::vector<std::uint64_t> words;
  for (std::uint64_t put = kFirst; put < kFirst + 10; ++put) {
    for (std::uint32_t w = 0; w < kWords; ++w) words.push_back(stamp_word(put, w));
  }
  return words;
}

TEST(LitmusSlots, NothingIsWrongWhereEachPutArrived) {
  const auto wrong = wrong_slots(right(), kWords, kFirst);
  EXPECT_EQ(wrong.old, 0u);
  EXPECT_EQ(wrong.torn, 0u);
}

TEST(LitmusSlots, AnUntouchedSlotAndAnotherPutsBytesAreOld) {
  auto words = right();
  std::fill_n(words.begin() + 2 * kWords, kWords, 0);
  for (std::uint32_t w = 0; w < kWords; ++w) words[5 * kWords + w] = stamp_word(kFirst + 5 - 128, w);
  const auto wrong = wrong_slots(words, kWords, kFirst);
  EXPECT_EQ(wrong.old, 2u);
  EXPECT_EQ(wrong.torn, 0u);
}

TEST(LitmusSlots, OneWordOfAnotherPutIsTorn) {
  auto words = right();
  words[3 * kWords + 7] = stamp_word(kFirst + 3 - 256, 7);
  words[4 * kWords] = stamp_word(kFirst + 4, 1);
  const auto wrong = wrong_slots(words, kWords, kFirst);
  EXPECT_EQ(wrong.old, 0u);
  EXPECT_EQ(wrong.torn, 2u);
}

TEST(LitmusSlots, TheNumberOfTheFirstPutCounts) {
  EXPECT_EQ(wrong_slots(right(), kWords, kFirst + 1).old, 10u);
}

}  // namespace
}  // namespace marrow::experiments
