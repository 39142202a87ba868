// SPDX-License-Identifier: Apache-2.0
// Request packets as rows: which operation, and where in its message; the same for every transport. Facts: opcode
// numbers [prm: IBA vol. 1, 9.2].
#pragma once

#include <array>
#include <cstdint>

#include "cx7/fabric/packet.h"

namespace marrow::cx7 {

enum class RequestKind : std::uint8_t { kSend, kWrite, kRead, kAtomic, kNone };

/// What the responder must know of a request opcode.
struct RequestRow {
  RequestKind kind = RequestKind::kNone;
  bool first = false;
  bool last = false;
  bool imm = false;
  bool invalidate = false;
};

inline constexpr std::array<RequestRow, 0x20> kRequestRows = [] {
  std::array<RequestRow, 0x20> rows{};
  const auto set = [&rows](PacketOpcode opcode, RequestRow row) { rows[static_cast<std::uint8_t>(opcode)] = row; };
  //                                                    first  last   imm
  set(PacketOpcode::kSendFirst, {RequestKind::kSend, true, false, false});
  set(PacketOpcode::kSendMiddle, {RequestKind::kSend, false, false, false});
  set(PacketOpcode::kSendLast, {RequestKind::kSend, false, true, false});
  set(PacketOpcode::kSendLastImm, {RequestKind::kSend, false, true, true});
  set(PacketOpcode::kSendOnly, {RequestKind::kSend, true, true, false});
  set(PacketOpcode::kSendOnlyImm, {RequestKind::kSend, true, true, true});
  set(PacketOpcode::kWriteFirst, {RequestKind::kWrite, true, false, false});
  set(PacketOpcode::kWriteMiddle, {RequestKind::kWrite, false, false, false});
  set(PacketOpcode::kWriteLast, {RequestKind::kWrite, false, true, false});
  set(PacketOpcode::kWriteLastImm, {RequestKind::kWrite, false, true, true});
  set(PacketOpcode::kWriteOnly, {RequestKind::kWrite, true, true, false});
  set(PacketOpcode::kWriteOnlyImm, {RequestKind::kWrite, true, true, true});
  set(PacketOpcode::kReadRequest, {RequestKind::kRead, true, true, false});
  set(PacketOpcode::kSendLastInvalidate, {RequestKind::kSend, false, true, false, true});
  set(PacketOpcode::kSendOnlyInvalidate, {RequestKind::kSend, true, true, false, true});
  set(PacketOpcode::kCompareSwap, {RequestKind::kAtomic, true, true, false});
  set(PacketOpcode::kFetchAdd, {RequestKind::kAtomic, true, true, false});
  set(PacketOpcode::kMaskedCompareSwap, {RequestKind::kAtomic, true, true, false});
  set(PacketOpcode::kMaskedFetchAdd, {RequestKind::kAtomic, true, true, false});
  return rows;
}();

/// The row of any byte, whatever its transport: what is no request has kind kNone.
inline const RequestRow& row_of(PacketOpcode opcode) {
  return kRequestRows[static_cast<std::uint8_t>(operation_of(opcode))];
}

}  // namespace marrow::cx7
