// SPDX-License-Identifier: Apache-2.0
// The sizes of goodput, and its record: goodput of each, and the first that reaches 90 % of the link's own reference.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "experiments/common/load/ends.h"
#include "experiments/common/load/limit.h"

namespace marrow::experiments {

// The paper's, with 7168: the FP8 hidden vector of one token of DeepSeek-V3.
inline constexpr std::array<std::uint32_t, 9> kGoodputBytes{8, 64, 512, 1024, 2048, 4096, 7168, 32768, 65536};
inline constexpr std::uint32_t kReferenceBytes = 1 << 20;

/// Messages of `bytes` that one repetition moves, over `lanes` lanes.
[[nodiscard]] CargoShape goodput_cargo(std::uint32_t bytes, std::uint32_t lanes);

/// Times of repetitions of one size.
struct Streamed {
  std::uint32_t bytes = 0;
  std::uint64_t messages = 0;  // of a repetition
  std::vector<double> ns;
  Busy busy;
};
/// Adds "goodput, 512 B".
void add_goodput(const Context& context, const Streamed& streamed, measure::Record& record);
/// What mini-gda's writes of 1 MiB, one queue and many outstanding, carry on this link. \returns GB/s.
double add_reference(const Context& context, const Streamed& streamed, measure::Record& record);
/// Adds the first size at 90 % of the reference, or a warning that there was none; who was the limit below it.
void add_first_size(const Context& context, const std::vector<Streamed>& sizes, double reference,
                    measure::Record& record);

}  // namespace marrow::experiments
