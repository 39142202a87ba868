// SPDX-License-Identifier: Apache-2.0
// The bytes of a CQE: what the NIC writes last (stop 8) and the lane reads last (stop 9).
// Facts: mlx5_cqe64, mlx5_err_cqe and the syndromes [dv]; ownership rule [dv: get_sw_cqe]; vendor bytes [obs: CX-6].
// Witnesses: tests/wire/cqe_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "marrow/wire/be.h"
#include "marrow/wire/wqe.h"

namespace marrow::wire {

inline constexpr std::uint32_t kCqeBytes = 64;

/// High nibble of byte 63.
enum class CqeOpcode : std::uint8_t {
  kRequester = 0,
  kRecvWriteImm = 1,
  kRecvSend = 2,
  kRecvSendImm = 3,
  kRecvSendInvalidate = 4,
  kResize = 5,  // the last of a CQ's old buffer: its successors stand in the new one
  kRequesterError = 13,
  kResponderError = 14,
  kInvalid = 15,
};

/// Byte 55 of an error CQE.
enum class Syndrome : std::uint8_t {
  kNone = 0x00,
  kLocalLength = 0x01,
  kLocalQpOperation = 0x02,
  kLocalProtection = 0x04,
  kFlushed = 0x05,
  kMwBind = 0x06,
  kBadResponse = 0x10,
  kLocalAccess = 0x11,
  kRemoteInvalidRequest = 0x12,
  kRemoteAccess = 0x13,
  kRemoteOperation = 0x14,
  kRetryExceeded = 0x15,
  kRnrRetryExceeded = 0x16,
  kRemoteAborted = 0x22,
};

/// A CQE. Bytes 48..55 are a timestamp, or in an error CQE the four error bytes.
struct Cqe {
  std::byte reserved0[22];
  be16 slid;        // 22, of a received datagram
  be32 flags_rqpn;  // 24: GRH 29:28 | service level 27:24 | source QPN 23:0
  std::byte reserved28[4];
  be32 user_index;  // low 24 bits; with cqe_version 1 the index given at CREATE_QP
  be32 imm;         // responder: immediate as sent, or the key that the sender invalidated
  std::byte app[4];
  be32 byte_count;
  std::byte reserved48[4];
  std::uint8_t hw_error_syndrome;  // 52, error CQE only
  std::uint8_t hw_syndrome_type;   // 53
  std::uint8_t vendor_syndrome;    // 54
  Syndrome syndrome;               // 55
  be32 opcode_qpn;                 // opcode of the WQE 31:24 | QPN 23:0
  be16 wqe_counter;                // first WQEBB of the WQE that completed
  std::uint8_t signature;
  std::uint8_t op_own;  // opcode 7:4 | inline-scatter format 3:2 | solicited 1 | owner 0

  [[nodiscard]] MARROW_HD constexpr CqeOpcode opcode() const { return static_cast<CqeOpcode>(op_own >> 4); }
  [[nodiscard]] MARROW_HD constexpr std::uint8_t owner() const { return op_own & 1; }
  [[nodiscard]] MARROW_HD constexpr std::uint32_t qpn() const { return opcode_qpn.host() & 0xffffff; }
  [[nodiscard]] MARROW_HD constexpr Opcode wqe_opcode() const { return static_cast<Opcode>(opcode_qpn.host() >> 24); }
  [[nodiscard]] MARROW_HD constexpr bool is_error() const {
    return opcode() == CqeOpcode::kRequesterError || opcode() == CqeOpcode::kResponderError;
  }
};

static_assert(sizeof(Cqe) == kCqeBytes);
static_assert(offsetof(Cqe, slid) == 22 && offsetof(Cqe, flags_rqpn) == 24 && offsetof(Cqe, user_index) == 32 &&
              offsetof(Cqe, byte_count) == 44 && offsetof(Cqe, syndrome) == 55 && offsetof(Cqe, opcode_qpn) == 56 &&
              offsetof(Cqe, wqe_counter) == 60 && offsetof(Cqe, op_own) == 63);

/// What a fresh CQ is filled with: opcode "invalid" and owner 1, so that neither test of a poller can pass.
inline constexpr std::uint8_t kFreshCqeByte = 0xff;

/// Low byte of a CQE word: opcode and owner. `lap` is consumer or producer index / number of entries.
MARROW_HD constexpr std::uint8_t op_own_byte(CqeOpcode opcode, std::uint64_t lap) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(opcode) << 4 | (lap & 1));
}

/// True when the entry for consumer index `ci` of a CQ with 2^log_entries entries has been written in this lap.
MARROW_HD constexpr bool cqe_is_valid(std::uint8_t op_own, std::uint64_t ci, std::uint32_t log_entries) {
  return (op_own >> 4) != static_cast<unsigned>(CqeOpcode::kInvalid) && (op_own & 1) == ((ci >> log_entries) & 1);
}

/// The last word of a CQE, as one load of bytes 60..63 gives it on a little-endian machine.
struct CqeTail {
  std::uint16_t wqe_counter;
  std::uint8_t op_own;

  [[nodiscard]] MARROW_HD static constexpr CqeTail from_word(std::uint32_t word) {
    return {swap_bytes(static_cast<std::uint16_t>(word & 0xffff)), static_cast<std::uint8_t>(word >> 24)};
  }
  [[nodiscard]] MARROW_HD constexpr CqeOpcode opcode() const { return static_cast<CqeOpcode>(op_own >> 4); }
};

/// A name for people; "unknown" for a byte that is none of ours.
constexpr const char* syndrome_name(Syndrome syndrome) {
  switch (syndrome) {
    case Syndrome::kNone:
      return "none";
    case Syndrome::kLocalLength:
      return "local length";
    case Syndrome::kLocalQpOperation:
      return "local QP operation";
    case Syndrome::kLocalProtection:
      return "local protection";
    case Syndrome::kFlushed:
      return "flushed";
    case Syndrome::kMwBind:
      return "memory window bind";
    case Syndrome::kBadResponse:
      return "bad response";
    case Syndrome::kLocalAccess:
      return "local access";
    case Syndrome::kRemoteInvalidRequest:
      return "remote invalid request";
    case Syndrome::kRemoteAccess:
      return "remote access";
    case Syndrome::kRemoteOperation:
      return "remote operation";
    case Syndrome::kRetryExceeded:
      return "transport retries exceeded";
    case Syndrome::kRnrRetryExceeded:
      return "receiver-not-ready retries exceeded";
    case Syndrome::kRemoteAborted:
      return "remote aborted";
  }
  return "unknown";
}

}  // namespace marrow::wire
