// SPDX-License-Identifier: Apache-2.0
// The kernels by which a GPU lane drives the engine under test.
#pragma once

#include <cstdint>

#include "gpu/launch.h"
#include "marrow/gda/receive_queue.h"
#include "marrow/gda/requests.h"

namespace marrow::cx7::test {

enum class What : std::uint8_t {
  kInlineWrite,
  kPointerWrite,
  kRead,
  kFetchAdd,
  kCompareSwap,
  kAdd4,
  kAdd8,
  kSwap4,
  kSwap8
};

/// `times` operations by one thread, `batch` a submit. An inline write carries its number, counted from 1.
struct LaneJob {
  gda::Qp qp;
  What what{};
  gda::Local here;
  gda::Remote there;
  std::uint32_t bytes = 8;
  std::uint32_t batch = 1;
  std::uint64_t times = 1;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
  std::uint64_t swap_mask = ~0ull;
  std::uint64_t compare_mask = 0;
  std::uint64_t boundary = 0;
  gda::Result* result = nullptr;
};
[[nodiscard]] gpu::Kernel<LaneJob> lane();

/// Two CTAs of one thread: one posts receives and reads what comes, the other writes with immediate, each of `times`
/// carrying its number, counted from 1, as immediate and as its 8 bytes.
struct NoticeJob {
  LaneJob send;
  gda::ReceiveRing ring;
  std::uint32_t receives = 0;           // posted at once, and one more for each that came
  const std::uint64_t* word = nullptr;  // where the bytes come
  gda::Notice* last = nullptr;          // the last that came, or the first that was wrong
  std::uint64_t* right = nullptr;       // that came in order, with their bytes
};
[[nodiscard]] gpu::Kernel<NoticeJob> notices();

/// One thread that waits, up to 5 s of GPU time, until the 8-byte word at `at` has this value; then 1 in `*seen`.
struct WatchJob {
  const std::uint64_t* at = nullptr;
  std::uint64_t value = 0;
  std::uint32_t* seen = nullptr;
};
[[nodiscard]] gpu::Kernel<WatchJob> watcher();

}  // namespace marrow::cx7::test
