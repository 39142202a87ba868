// SPDX-License-Identifier: Apache-2.0
// The two words that announce work (stop 4): the doorbell record in memory, and the 64-bit store to the UAR page.
// Facts: MLX5_SND_DBR, MLX5_RCV_DBR and the CQ's words [dv]; both forms of the doorbell [obs: libmlx5 and the GPU
// libraries]; that end = index + blocks fits both is [guess], and harmless beside a correct record.
// Witnesses: tests/wire/doorbell_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "marrow/wire/be.h"
#include "marrow/wire/wqe.h"

namespace marrow::wire {

/// Doorbell record of a QP: 8-byte aligned, each word stored on its own. Values are masked to 16 bits.
struct QpDbrec {
  be32 receive;  // WQEs posted to the RQ
  be32 send;     // WQEBBs posted to the SQ: the index of the next free block
};

/// Doorbell record of a CQ.
struct CqDbrec {
  be32 consumer;  // consumer index, 24 bits
  be32 arm;       // sn 29:28 | solicited only 24 | consumer index 23:0
};

static_assert(sizeof(QpDbrec) == 8 && sizeof(CqDbrec) == 8);
static_assert(offsetof(QpDbrec, send) == 4 && offsetof(CqDbrec, arm) == 4);

MARROW_HD constexpr be32 dbrec_value(std::uint64_t pi) {
  return be32(static_cast<std::uint32_t>(pi & 0xffff));
}

inline constexpr std::uint32_t kUarBytes = 4096;
inline constexpr std::uint32_t kUarCqArm = 0x20;
inline constexpr std::uint32_t kUarBlueFlame = 0x800;    // first register; the next ones every 0x200
inline constexpr std::uint32_t kBlueFlameBytes = 0x200;  // two halves of 0x100
inline constexpr std::uint32_t kUarDoorbells = 4;        // registers and halves in use: 0x800, 0x900, 0xa00, 0xb00
inline constexpr std::uint32_t kUarDoorbellStride = 0x100;

/// The 64 bits as a little-endian machine stores them: bytes 0..3 are `index << 8`, bytes 4..7 `qpn << 8 | ds`.
/// With ds 0 the index is the next free block (what GPU libraries store); with the ds of the last WQE it is that
/// WQE's first block (what libmlx5 stores).
struct Doorbell {
  std::uint32_t qpn = 0;
  std::uint16_t index = 0;
  std::uint8_t ds = 0;

  /// The producer index that the doorbell announces, modulo 2^16.
  [[nodiscard]] MARROW_HD constexpr std::uint16_t end() const {
    return static_cast<std::uint16_t>(index + wqebbs_of(ds));
  }

  [[nodiscard]] MARROW_HD constexpr std::uint64_t to_word() const {
    const be32 first(static_cast<std::uint32_t>(index) << 8);
    const be32 second(qpn << 8 | ds);
    return static_cast<std::uint64_t>(second.raw) << 32 | first.raw;
  }

  /// Opmod and opcode of the first word mean nothing in a doorbell: libraries leak index bits into them.
  [[nodiscard]] MARROW_HD static constexpr Doorbell from_word(std::uint64_t word) {
    const auto first = swap_bytes(static_cast<std::uint32_t>(word));
    const auto second = swap_bytes(static_cast<std::uint32_t>(word >> 32));
    return {second >> 8, static_cast<std::uint16_t>(first >> 8), static_cast<std::uint8_t>(second & 0x3f)};
  }
};

/// Doorbell word for "everything before block `pi` is posted".
MARROW_HD constexpr std::uint64_t doorbell_word(std::uint32_t qpn, std::uint64_t pi) {
  return Doorbell{qpn, static_cast<std::uint16_t>(pi), 0}.to_word();
}

}  // namespace marrow::wire
