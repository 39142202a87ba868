// SPDX-License-Identifier: Apache-2.0
// The hand-offs under test: the five steps, and shapes that GPU libraries use, so that every axis value meets every
// test. A ring in private memory with both of its ends.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "marrow/proxy/consumer.h"
#include "marrow/proxy/producer.h"

namespace marrow::proxy::testing {

/// 64 bytes with a flag in each word, the worker's index read for each put, a fence of its own.
struct Flags64 : HandOff {
  static constexpr std::string_view name = "flags-64";
  static constexpr Reserve reserve = Reserve::kSystemAtomic;
  static constexpr Credit credit = Credit::kReadAlways;
  static constexpr Mark mark = Mark::kFlag;
  static constexpr PreFence pre_fence = PreFence::kSystem;
  static constexpr Publish publish = Publish::kWriteThrough;
  static constexpr std::uint32_t desc_bytes = 64;
};
/// 32 bytes in four volatile stores with the lap's parity in each.
struct Words32 : HandOff {
  static constexpr std::string_view name = "words-32";
  static constexpr Reserve reserve = Reserve::kGpuAtomic;
  static constexpr PreFence pre_fence = PreFence::kGpu;
  static constexpr Publish publish = Publish::kVolatile8;
  static constexpr std::uint32_t desc_bytes = 32;
};
/// One 16-byte release store whose first word is not zero, many producers, cached progress.
struct NonZero16 : HandOff {
  static constexpr std::string_view name = "non-zero-16";
  static constexpr Reserve reserve = Reserve::kGpuAtomic;
  static constexpr Mark mark = Mark::kNonZeroWord;
  static constexpr Publish publish = Publish::kRelease;
};
/// 128 bytes behind a ready word.
struct Ready128 : Baseline {
  static constexpr std::string_view name = "ready-128";
  static constexpr std::uint32_t desc_bytes = 128;
};
struct SharedTuned : SharedRing<Tuned> {
  static constexpr std::string_view name = "tuned, shared";
};

using AllHandOffs = ::testing::Types<Baseline, OwnRing, CachedCredit, PhaseMark, Tuned, Flags64, Words32, NonZero16,
                                     Ready128, SharedTuned>;
using SharedHandOffs = ::testing::Types<Baseline, Flags64, Words32, NonZero16, Ready128, SharedTuned>;

/// For GoogleTest's names of typed tests.
struct NameOf {
  template <class H>
  static std::string GetName(int) {
    return std::string(H::name);
  }
};

/// A fresh ring. Waits of its producers end after `timeout_ms`.
template <HandOffType H>
class TestRing {
 public:
  explicit TestRing(std::uint32_t depth, std::uint64_t timeout_ms = 2, std::uint64_t first = 0)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(kRingAlignment, ring_bytes<H>(depth)))),
        producers_{first, first} {
    std::memset(memory_.get(), 0, ring_bytes<H>(depth));
    ring_ = lay_out_ring<H>(memory_.get(), depth, &producers_);
    ring_.timeout_ns = timeout_ms * 1'000'000;
    *ring_.freed = first;
    *ring_.done = first;
  }
  [[nodiscard]] const Ring& ring() const { return ring_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  ProducerState producers_;
  Ring ring_;
};

/// Put number `i`, different in every field.
constexpr Put put_number(std::uint64_t i) {
  return {static_cast<std::uint32_t>(i * 7 % (kMaxRoute + 1)), i * 0x12345 & kMaxOffset, ~(i * 0x54321) & kMaxOffset,
          static_cast<std::uint32_t>(i * 3 & kMaxPutBytes)};
}
constexpr Request request_number(std::uint64_t i) {
  const auto p = put_number(i);
  return {Op::kPut, p.route, 0, p.bytes, p.from, p.to};
}

}  // namespace marrow::proxy::testing
