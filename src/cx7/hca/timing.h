// SPDX-License-Identifier: Apache-2.0
// Times that the transport's 5-bit codes stand for.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>

#include "cx7/hca/qp.h"

namespace marrow::cx7 {

/// Time to the next retry: 4.096 us << T; T = 0 is "never". Firmware raises a smaller T to 16 [obs: CX-6].
inline Time ack_timeout(const QpAttributes& attributes) {
  constexpr std::uint8_t kFirmwareFloor = 16;
  if (attributes.ack_timeout == 0) return std::chrono::hours(24 * 365);
  return Time{std::int64_t{4096} << std::max(attributes.ack_timeout, kFirmwareFloor)};
}

/// Pause that a receiver-not-ready NAK asks for, by timer code, in units of 10 us [prm: IBA vol. 1, table 45].
inline Time rnr_pause(std::uint8_t code) {
  constexpr std::array<std::uint32_t, 32> kTensOfMicroseconds = {
      65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
      256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return std::chrono::microseconds(10) * kTensOfMicroseconds[code & 31];
}

}  // namespace marrow::cx7
