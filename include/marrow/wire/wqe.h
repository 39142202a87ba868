// SPDX-License-Identifier: Apache-2.0
// Stop 3 of 9 (docs/one-message.md): the bytes of a send WQE.
// A WQE is a row of 16-byte segments (DS) in 64-byte basic blocks (WQEBB): control, remote address, then data by
// pointer, data inline or an atomic operand. Facts: mlx5_wqe_*_seg and the opcodes [dv]; shapes and limits [prm].
// Witnesses: tests/wire/wqe_test.cpp (bytes by hand, and rdma-core's own helpers and structs).
#pragma once

#include <cstddef>
#include <cstdint>

#include "marrow/wire/be.h"

namespace marrow::wire {

inline constexpr std::uint32_t kDsBytes = 16;
inline constexpr std::uint32_t kWqebbBytes = 64;
inline constexpr std::uint32_t kMaxDs = 63;              // a 6-bit field
inline constexpr std::uint32_t kMaxSqWqebbs = 1u << 15;  // the 16-bit index needs half its range free
inline constexpr std::uint32_t kInlineFlag = 1u << 31;   // in the byte count of a data segment
inline constexpr std::uint32_t kInvalidLkey = 0x100;     // ends the scatter list of a receive WQE

enum class Opcode : std::uint8_t {
  kNop = 0x00,
  kSendInvalidate = 0x01,
  kWrite = 0x08,
  kWriteImm = 0x09,
  kSend = 0x0a,
  kSendImm = 0x0b,
  kRead = 0x10,
  kCompareSwap = 0x11,
  kFetchAdd = 0x12,
  kMaskedCompareSwap = 0x14,  // with a modifier: wire/masked_atomic.h
  kMaskedFetchAdd = 0x15,
  kLocalInvalidate = 0x1b,
  kUmr = 0x25,  // changes a memory key
};

/// When the NIC writes a CQE for this WQE (`ce`, bits 3:2 of byte 11).
enum class Completion : std::uint8_t { kOnError = 0, kOnFirstError = 1, kAlways = 2, kAlwaysWithEvent = 3 };

/// What this WQE waits for (`fm`, bits 7:5 of byte 11). Neither orders it against earlier writes at the target.
enum class Fence : std::uint8_t { kNone = 0, kSmall = 1, kFence = 2, kStrong = 3, kFenceAndSmall = 4 };

enum class Solicited : std::uint8_t { kNo = 0, kYes = 1 };

/// Control segment. Words as in memory, big-endian:
///   0  opmod 31:24 | WQE index 23:8 | opcode 7:0      index of this WQE's first WQEBB, modulo 2^16
///   1  QPN 31:8 | DS 5:0                              DS counts the control segment too
///   2  signature 31:24 | DCI stream 23:8 | fm ce se   bits 7:5, 3:2, 1
///   3  immediate (as it will stand in the peer's CQE), or 0
struct CtrlSegment {
  be32 opmod_index_opcode;
  be32 qpn_ds;
  be32 signature_flags;
  be32 imm;

  [[nodiscard]] MARROW_HD constexpr std::uint8_t opmod() const {
    return static_cast<std::uint8_t>(opmod_index_opcode.host() >> 24);
  }
  [[nodiscard]] MARROW_HD constexpr std::uint16_t index() const {
    return static_cast<std::uint16_t>(opmod_index_opcode.host() >> 8);
  }
  [[nodiscard]] MARROW_HD constexpr Opcode opcode() const {
    return static_cast<Opcode>(opmod_index_opcode.host() & 0xff);
  }
  [[nodiscard]] MARROW_HD constexpr std::uint32_t qpn() const { return qpn_ds.host() >> 8; }
  [[nodiscard]] MARROW_HD constexpr std::uint32_t ds() const { return qpn_ds.host() & 0x3f; }
  [[nodiscard]] MARROW_HD constexpr Fence fence() const {
    return static_cast<Fence>((signature_flags.host() >> 5) & 7);
  }
  [[nodiscard]] MARROW_HD constexpr Completion completion() const {
    return static_cast<Completion>((signature_flags.host() >> 2) & 3);
  }
  [[nodiscard]] MARROW_HD constexpr Solicited solicited() const {
    return static_cast<Solicited>((signature_flags.host() >> 1) & 1);
  }
};

struct RemoteSegment {
  be64 addr;
  be32 rkey;
  be32 reserved;
};

/// Data by pointer. `byte_count` 0 would mean 2^31: a transfer of nothing has no data segment at all.
struct DataSegment {
  be32 byte_count;
  be32 lkey;
  be64 addr;
};

/// First word of inline data; the payload follows at once, unswapped, the whole padded to 16 bytes.
struct InlineHeader {
  be32 flag_bytes;
};

/// Operand of FETCH_ADD (`swap_add`) or COMPARE_SWAP (both). Always followed by a data segment for the old value.
struct AtomicSegment {
  be64 swap_add;
  be64 compare;
};

static_assert(sizeof(CtrlSegment) == kDsBytes && sizeof(RemoteSegment) == kDsBytes && sizeof(DataSegment) == kDsBytes &&
              sizeof(AtomicSegment) == kDsBytes && sizeof(InlineHeader) == 4);

/// What every WQE says of itself, whatever it does.
struct Post {
  std::uint32_t qpn = 0;
  std::uint32_t index = 0;  // of the first WQEBB, free-running; the low 16 bits are stored
  Completion completion = Completion::kOnError;
  Fence fence = Fence::kNone;
  Solicited solicited = Solicited::kNo;
  std::uint32_t imm = 0;   // host order; sent big-endian
  std::uint8_t opmod = 0;  // of the masked atomics alone
};

/// Memory of the peer, and the key to it.
struct RemoteRef {
  std::uint64_t addr = 0;
  std::uint32_t rkey = 0;
};

/// Memory of this side, and the key to it.
struct LocalRef {
  std::uint64_t addr = 0;
  std::uint32_t lkey = 0;
};

MARROW_HD constexpr CtrlSegment ctrl_segment(const Post& post, Opcode opcode, std::uint32_t ds) {
  const auto flags = (static_cast<std::uint32_t>(post.fence) << 5) |
                     (static_cast<std::uint32_t>(post.completion) << 2) |
                     (static_cast<std::uint32_t>(post.solicited) << 1);
  return {be32(static_cast<std::uint32_t>(post.opmod) << 24 | (post.index & 0xffff) << 8 |
               static_cast<std::uint32_t>(opcode)),
          be32(post.qpn << 8 | ds), be32(flags), be32(post.imm)};
}

MARROW_HD constexpr RemoteSegment remote_segment(const RemoteRef& remote) {
  return {be64(remote.addr), be32(remote.rkey), be32(0)};
}

/// \param bytes in [1, 2^31): see DataSegment for 0.
MARROW_HD constexpr DataSegment data_segment(const LocalRef& local, std::uint32_t bytes) {
  return {be32(bytes), be32(local.lkey), be64(local.addr)};
}

MARROW_HD constexpr InlineHeader inline_header(std::uint32_t bytes) {
  return {be32(kInlineFlag | bytes)};
}

/// DS that `bytes` of inline payload take: the header word is part of the first.
MARROW_HD constexpr std::uint32_t inline_ds(std::uint32_t bytes) {
  return bytes == 0 ? 0 : (4 + bytes + kDsBytes - 1) / kDsBytes;
}

/// WQEBBs that `ds` segments take.
MARROW_HD constexpr std::uint32_t wqebbs_of(std::uint32_t ds) {
  return (ds + 3) / 4;
}

/// Most inline payload bytes of an RC write of `wqebbs` blocks: 28, 92, 156, 220 for 1 to 4.
MARROW_HD constexpr std::uint32_t max_inline_write(std::uint32_t wqebbs) {
  return wqebbs * kWqebbBytes - 36;
}

struct WriteWqe {
  CtrlSegment ctrl;
  RemoteSegment remote;
  DataSegment data;
};

/// RDMA write by pointer, also a read (`Opcode::kRead`) or a write with immediate.
MARROW_HD constexpr WriteWqe write_wqe(const Post& post, const RemoteRef& remote, const LocalRef& local,
                                       std::uint32_t bytes, Opcode opcode = Opcode::kWrite) {
  return {ctrl_segment(post, opcode, 3), remote_segment(remote), data_segment(local, bytes)};
}

struct AtomicWqe {
  CtrlSegment ctrl;
  RemoteSegment remote;
  AtomicSegment operand;
  DataSegment result;
};

/// What an 8-byte atomic does at the peer; `compare` is unused by kFetchAdd.
struct AtomicOp {
  Opcode opcode = Opcode::kFetchAdd;
  std::uint64_t swap_add = 0;
  std::uint64_t compare = 0;
};

/// 8-byte atomic; the old value arrives at `result`, which must be registered with local write.
MARROW_HD constexpr AtomicWqe atomic_wqe(const Post& post, const RemoteRef& remote, const LocalRef& result,
                                         const AtomicOp& op) {
  return {ctrl_segment(post, op.opcode, 4),
          remote_segment(remote),
          {be64(op.swap_add), be64(op.compare)},
          data_segment(result, 8)};
}

struct SendWqe {
  CtrlSegment ctrl;
  DataSegment data;
};

MARROW_HD constexpr SendWqe send_wqe(const Post& post, const LocalRef& local, std::uint32_t bytes,
                                     Opcode opcode = Opcode::kSend) {
  return {ctrl_segment(post, opcode, 2), data_segment(local, bytes)};
}

MARROW_HD constexpr CtrlSegment nop_wqe(const Post& post) {
  return ctrl_segment(post, Opcode::kNop, 1);
}

}  // namespace marrow::wire
