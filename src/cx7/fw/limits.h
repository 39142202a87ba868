// SPDX-License-Identifier: Apache-2.0
// How many and how large: one place for QUERY_HCA_CAP, for the verbs attributes and for the checks of both.
#pragma once

#include <cstdint>

#include "cx7/hca/engine.h"

namespace marrow::cx7 {

inline constexpr std::uint32_t kMaxObjects = Table<Qp>::kEntries - Table<Qp>::kFirst;  // of each kind, a device
inline constexpr std::uint32_t kLogMaxObjects = 15;                                    // the power of two below it
inline constexpr std::uint32_t kLogMaxSqWqebbs = 15;
inline constexpr std::uint32_t kLogMaxRqEntries = 15;
inline constexpr std::uint32_t kMaxSrqEntries = 32767;
inline constexpr std::uint32_t kMinSrqSlotBytes = 32;
inline constexpr std::uint32_t kLogMaxCqEntries = 22;
inline constexpr std::uint32_t kLogMaxReads = 4;
inline constexpr std::uint32_t kMaxReads = 1u << kLogMaxReads;  // reads and atomics in flight, a QP
static_assert(kMaxReads <= kMaxResources);
inline constexpr std::uint32_t kLogMaxMessage = 30;
inline constexpr std::uint32_t kLogMaxRegionBytes = 63;
inline constexpr std::uint32_t kMaxSendWqeBytes = 1024;
inline constexpr std::uint32_t kMaxRecvWqeBytes = 512;
inline constexpr std::uint32_t kMaxSges = 30;
static_assert(kMaxSges <= kMaxSpans);
inline constexpr std::uint32_t kBlueFlameBytes = 512;
inline constexpr std::uint32_t kLogBlueFlameBytes = 9;
inline constexpr std::uint32_t kMaxMtuCode = 5;  // 4096 bytes
inline constexpr std::uint32_t kUarPageBytes = 4096;
inline constexpr std::uint16_t kMinUdpSourcePort = 0xc000;
inline constexpr std::uint16_t kMaxUdpSourcePort = 0xffff;
inline constexpr std::uint16_t kRoceUdpPort = 4791;
inline constexpr std::uint32_t kCompletionVectors = 1;
inline constexpr std::uint32_t kEqn = 8;  // the one event queue [guess]

}  // namespace marrow::cx7
