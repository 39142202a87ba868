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
    kLocalLength = static_cast<std::uint8_t>(wire::Syndrome::kLocalLength),
    kLocalQpOperation = static_cast<std::uint8_t>(wire::Syndrome::kLocalQpOperation),
    kLocalProtection = static_cast<std::uint8_t>(wire::Syndrome::kLocalProtection),
    kFlushed = static_cast<std::uint8_t>(wire::Syndrome::kFlushed),
    kMwBind = static_cast<std::uint8_t>(wire::Syndrome::kMwBind),
    kBadResponse = static_cast<std::uint8_t>(wire::Syndrome::kBadResponse),
    kLocalAccess = static_cast<std::uint8_t>(wire::Syndrome::kLocalAccess),
    kRemoteInvalidRequest = static_cast<std::uint8_t>(wire::Syndrome::kRemoteInvalidRequest),
    kRemoteAccess = static_cast<std::uint8_t>(wire::Syndrome::kRemoteAccess),
    kRemoteOperation = static_cast<std::uint8_t>(wire::Syndrome::kRemoteOperation),
    kRetryExceeded = static_cast<std::uint8_t>(wire::Syndrome::kRetryExceeded),
    kRnrRetryExceeded = static_cast<std::uint8_t>(wire::Syndrome::kRnrRetryExceeded),
    kRemoteAborted = static_cast<std::uint8_t>(wire::Syndrome::kRemoteAborted),

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

/// The status that a syndrome byte stands for. Total: a byte that is none of ours is kUnknownError, never success.
MARROW_HD constexpr Status status_of(wire::Syndrome syndrome) {
  switch (syndrome) {
    case wire::Syndrome::kNone:
      break;  // an error CQE without a syndrome is still an error
    case wire::Syndrome::kLocalLength:
    case wire::Syndrome::kLocalQpOperation:
    case wire::Syndrome::kLocalProtection:
    case wire::Syndrome::kFlushed:
    case wire::Syndrome::kMwBind:
    case wire::Syndrome::kBadResponse:
    case wire::Syndrome::kLocalAccess:
    case wire::Syndrome::kRemoteInvalidRequest:
    case wire::Syndrome::kRemoteAccess:
    case wire::Syndrome::kRemoteOperation:
    case wire::Syndrome::kRetryExceeded:
    case wire::Syndrome::kRnrRetryExceeded:
    case wire::Syndrome::kRemoteAborted:
      return static_cast<Status>(syndrome);
  }
  return Status::kUnknownError;
}

/// A name for people.
constexpr const char* status_name(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kTimeout:
      return "timed out";
    case Status::kQueueFull:
      return "queue full";
    case Status::kBadRequest:
      return "bad request";
    case Status::kUnknownError:
      return "unknown error";
    default:
      return wire::syndrome_name(static_cast<wire::Syndrome>(status));
  }
}

static_assert(static_cast<std::uint8_t>(wire::Syndrome::kNone) == static_cast<std::uint8_t>(Status::kOk));
static_assert(
    [] {  // parity both ways: a byte with a syndrome's name is a status of its own, below 0x80, and no other byte is
      for (unsigned byte = 1; byte < 256; ++byte) {
        const auto syndrome = static_cast<wire::Syndrome>(byte);
        const bool named = wire::syndrome_name(syndrome)[0] != 'u';  // "unknown"
        const bool mapped = status_of(syndrome) == static_cast<Status>(byte) && byte < 0x80;
        if (named != mapped) return false;
      }
      return true;
    }(),
    "every syndrome of wire/cqe.h needs its Status here");

}  // namespace marrow::gda
