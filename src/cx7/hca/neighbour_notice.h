// SPDX-License-Identifier: Apache-2.0
// The one message between two control planes (neighbours.h). Both are of this build or refuse each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cx7/fabric/control_links.h"
#include "cx7/hca/counters.h"
#include "cx7/hca/far_news.h"

namespace marrow::cx7 {

enum class NoticeKind : std::uint8_t {
  kAsk,      // to the owner, first: tell me everything, `slot` asks
  kSeen,     // to the owner: everything before the synchronisation `sequence` holds here
  kKey,      // from the owner: a new key
  kKeyGone,  //
  kQp,       // a queue pair that leads to the asking process, as it is now
  kSync,     // what came before is to be acted on and then confirmed
  kCount,    // to anybody, instead of kAsk: answer with a CountNotice
};

struct Notice {
  static constexpr std::uint32_t kMagic = 0x6d776e02;  // "mwn", version
  std::uint32_t magic = kMagic;
  NoticeKind kind{};
  SharedRange::How how{};
  std::uint8_t device = 0;
  std::uint8_t remote_device = 0;
  std::uint8_t receives = 0;
  std::uint8_t padding[3] = {};
  std::uint32_t slot = 0;
  std::uint32_t number = 0;  // key or QPN
  std::uint32_t remote_qpn = 0;
  std::uint32_t pdn = 0;
  std::uint32_t access = 0;
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t sequence = 0;
  std::array<std::byte, 64> handle{};
};
static_assert(std::is_trivially_copyable_v<Notice> && sizeof(Notice) == 128 &&
              sizeof(Notice) <= ControlLinks::kMostBytes);

/// What the process has counted.
struct CountNotice {
  std::uint32_t magic = Notice::kMagic;
  std::uint32_t padding = 0;
  DeviceCounts counts{};
};
static_assert(std::is_trivially_copyable_v<CountNotice> && sizeof(CountNotice) <= ControlLinks::kMostBytes);

}  // namespace marrow::cx7
