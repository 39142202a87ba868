// SPDX-License-Identifier: Apache-2.0
// Names of operations for people: of WQEs and of packets, as the specification and rdma-core write them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "cx7/fabric/packet.h"
#include "marrow/wire/wqe.h"

namespace marrow::cli {

constexpr std::string_view wqe_name(std::uint8_t opcode) {
  using wire::Opcode;
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::kNop:
      return "NOP";
    case Opcode::kWrite:
      return "RDMA_WRITE";
    case Opcode::kWriteImm:
      return "RDMA_WRITE_IMM";
    case Opcode::kSend:
      return "SEND";
    case Opcode::kSendImm:
      return "SEND_IMM";
    case Opcode::kSendInvalidate:
      return "SEND_INVAL";
    case Opcode::kRead:
      return "RDMA_READ";
    case Opcode::kCompareSwap:
      return "ATOMIC_CS";
    case Opcode::kFetchAdd:
      return "ATOMIC_FA";
    case Opcode::kMaskedCompareSwap:
      return "ATOMIC_MASKED_CS";
    case Opcode::kMaskedFetchAdd:
      return "ATOMIC_MASKED_FA";
    case Opcode::kUmr:
      return "UMR";
    default:
      return "WQE";
  }
}

/// The operation of a packet, whatever its transport.
constexpr std::string_view packet_name(std::uint8_t opcode) {
  constexpr std::array<std::string_view, 24> kNames = {"SEND first",
                                                       "SEND middle",
                                                       "SEND last",
                                                       "SEND last imm",
                                                       "SEND only",
                                                       "SEND only imm",
                                                       "WRITE first",
                                                       "WRITE middle",
                                                       "WRITE last",
                                                       "WRITE last imm",
                                                       "WRITE only",
                                                       "WRITE only imm",
                                                       "READ request",
                                                       "READ response first",
                                                       "READ response middle",
                                                       "READ response last",
                                                       "READ response only",
                                                       "ACKNOWLEDGE",
                                                       "ATOMIC ACKNOWLEDGE",
                                                       "COMPARE SWAP",
                                                       "FETCH ADD",
                                                       "packet",
                                                       "SEND last inval",
                                                       "SEND only inval"};
  if (static_cast<cx7::PacketOpcode>(opcode) == cx7::PacketOpcode::kDcConnect) return "DC connect";
  if (static_cast<cx7::PacketOpcode>(opcode) == cx7::PacketOpcode::kDcDisconnect) return "DC disconnect";
  const auto operation = static_cast<std::size_t>(opcode & 0x1f);
  return operation < kNames.size() ? kNames[operation] : "masked atomic";
}

}  // namespace marrow::cli
