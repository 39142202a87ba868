// SPDX-License-Identifier: Apache-2.0
// What a UMR work request does to a memory key: it binds a memory window, says what an indirect key shows, or takes
// either back.
#pragma once

#include <cstdint>

namespace marrow::cx7 {

/// Which fields a UMR changes [dv: MLX5_WQE_UMR_CTRL_MKEY_MASK_*].
namespace key_mask {
inline constexpr std::uint64_t kLength = 1u << 0;
inline constexpr std::uint64_t kStart = 1u << 6;
inline constexpr std::uint64_t kVariant = 1u << 13;
inline constexpr std::uint64_t kQpn = 1u << 14;
inline constexpr std::uint64_t kLocalWrite = 1u << 18;
inline constexpr std::uint64_t kRemoteRead = 1u << 19;
inline constexpr std::uint64_t kRemoteWrite = 1u << 20;
inline constexpr std::uint64_t kAtomic = 1u << 21;
inline constexpr std::uint64_t kFree = 1u << 29;
inline constexpr std::uint64_t kAll =
    kLength | kStart | kVariant | kQpn | kLocalWrite | kRemoteRead | kRemoteWrite | kAtomic | kFree;
}  // namespace key_mask

struct KeyChange {
  std::uint32_t key = 0;  // to change; its low byte may be out of date
  std::uint64_t mask = 0;
  bool takes_back = false;
  bool must_show_nothing = false;  // a window of type 2 is bound once
  bool must_be_own = false;        // ... and taken back by the QP that bound it
  std::uint32_t qpn = 0;           // who may use it
  std::uint8_t variant = 0;        // new low byte of the key
  std::uint32_t access = 0;
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
  std::uint32_t octowords = 0;  // of what it shall show; they stand in DecodedWqe::inline_bytes
};

}  // namespace marrow::cx7
