// SPDX-License-Identifier: Apache-2.0
// How an operation ended, for lane and host alike: a small enum that takes in the NIC's syndromes, so that there is
// one table and no conversion. Stop 9 of 9. Facts: syndromes [dv], through wire/cqe.h.
#pragma once

#include <cstdint>

#include "marrow/wire/cqe.h"

namespace marrow::gda {

/// Values below 0x80 are the syndrome byte of the error CQE; those from 0x80 on are found by the lane itself.
enum class [[nodiscard]] Status : std::uint8_t{
    kOk = 0,
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
    kTimeout = 0x80,       // no CQE within Qp::timeout_ns; the WQE may still complete
    kQueueFull = 0x81,     // try_reserve() found no room
    kBadRequest = 0x82,    // a WQE or reservation that cannot be built as asked; a NOP was posted in its place
    kUnknownError = 0xff,  // an error CQE with a syndrome that is none of ours: see Result::syndrome
};

/// A Status with what the error CQE said. `wqe_counter` is the first WQEBB of the failing WQE, modulo 2^16.
struct [[nodiscard]] Result {
  Status status = Status::kOk;
  std::uint8_t syndrome = 0;
  std::uint8_t vendor = 0;
  std::uint16_t wqe_counter = 0;

  [[nodiscard]] MARROW_HD constexpr bool ok() const { return status == Status::kOk; }
};

/// A Result as one word, so that one atomic publishes it. 0 stands for kOk.
MARROW_HD constexpr std::uint64_t pack_result(const Result& r) {
  return static_cast<std::uint64_t>(r.status) | std::uint64_t{r.syndrome} << 8 | std::uint64_t{r.vendor} << 16 |
         std::uint64_t{r.wqe_counter} << 32;
}
MARROW_HD constexpr Result unpack_result(std::uint64_t word) {
  return {static_cast<Status>(word & 0xff), static_cast<std::uint8_t>(word >> 8), static_cast<std::uint8_t>(word >> 16),
          static_cast<std::uint16_t>(word >> 32)};
}

/// The status that a syndrome byte stands for. A byte that is none of ours is kUnknownError, never success.
MARROW_HD constexpr Status status_of(wire::Syndrome syndrome) {
  constexpr std::uint64_t known = 0x4007f0076;  // one bit a syndrome; the assertion below keeps it true
  const auto byte = static_cast<std::uint8_t>(syndrome);
  return byte < 64 && (known >> byte & 1) != 0 ? static_cast<Status>(byte) : Status::kUnknownError;
}

/// A name for people.
constexpr const char* status_name(Status status) {
  if (status == Status::kOk) return "ok";
  if (status == Status::kTimeout) return "timed out";
  if (status == Status::kQueueFull) return "queue full";
  if (status == Status::kBadRequest) return "bad request";
  return wire::syndrome_name(static_cast<wire::Syndrome>(status));
}

static_assert(
    [] {  // both ways: a byte that has a syndrome's name is the status of that name, and no other is
      for (unsigned byte = 1; byte < 256; ++byte) {
        const bool named = wire::syndrome_name(static_cast<wire::Syndrome>(byte))[0] != 'u';  // "unknown"
        if (named != (static_cast<unsigned>(status_of(static_cast<wire::Syndrome>(byte))) == byte % 0x80)) return false;
      }
      return true;
    }(),
    "every syndrome of wire/cqe.h needs its Status here");

}  // namespace marrow::gda
