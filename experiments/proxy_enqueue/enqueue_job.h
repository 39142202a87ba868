// SPDX-License-Identifier: Apache-2.0
// What a lane of proxy-enqueue is given, and the loop that it runs: one descriptor outstanding, each with its number.
#pragma once

#include <cstdint>

#include "marrow/gda/team.h"
#include "marrow/proxy/producer.h"

namespace marrow::experiments::enqueue {

/// Lane ticks of one hand-over: before put(), behind it, and when the worker's answer has been seen.
struct Stamps {
  std::uint64_t start = 0;
  std::uint64_t handed_over = 0;
  std::uint64_t answered = 0;
};

struct Outcome {
  std::uint64_t done = 0;  // hand-overs
  gda::Status failure = gda::Status::kOk;
};

/// Descriptor number `i`: neighbours differ in every field.
MARROW_HD constexpr proxy::Put numbered(std::uint64_t i) {
  return {.route = static_cast<std::uint32_t>(i) & proxy::kMaxRoute,
          .from = i & proxy::kMaxOffset,
          .to = ~i & proxy::kMaxOffset,
          .bytes = static_cast<std::uint32_t>(i * 5) & proxy::kMaxPutBytes};
}
constexpr proxy::Request expected_request(std::uint64_t i) {
  const auto put = numbered(i);
  return {proxy::Op::kPut, put.route, 0, put.bytes, put.from, put.to};
}

struct Block {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  Stamps* stamps = nullptr;  // count
};

/// `clock()` gives ticks. Verification is the worker's business.
template <class Producer, class Clock>
MARROW_HD Outcome hand_over(Producer& producer, const Block& block, Clock&& clock) {
  for (std::uint32_t i = 0; i < block.count; ++i) {
    const auto put = numbered(block.first + i);
    const auto start = clock();
    const auto ticket = producer.put(put);
    const auto handed_over = clock();
    const auto status = producer.wait(ticket);
    const auto answered = clock();
    block.stamps[i] = {start, handed_over, answered};
    if (status != gda::Status::kOk) return {i, status};
  }
  return {block.count, gda::Status::kOk};
}

}  // namespace marrow::experiments::enqueue
