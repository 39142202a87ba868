// SPDX-License-Identifier: Apache-2.0
// Part of stop 7: atomics at the responder, plain ones of 8 bytes and masked ones of 4 or 8. Facts: order of checks
// [prm: IBA vol. 1, 9.7.4]; what the masks mean [obs: UCX, NVSHMEM].
#include "cx7/hca/data_path.h"
#include "cx7/hca/memory.h"

namespace marrow::cx7 {
namespace {

constexpr unsigned kMaxTries = 1u << 16;  // others that write the same word all the time are no reason to hang

/// A masked atomic's operands, in 64 bits whatever its width.
struct Operands {
  bool add = false;
  std::uint64_t value = 0;
  std::uint64_t compare = 0;  // of an add: where a carry stops
  std::uint64_t swap_mask = 0;
  std::uint64_t compare_mask = 0;
};

std::uint64_t outcome(const Operands& with, std::uint64_t old) {
  if (with.add) {
    const auto inner = (old & ~with.compare) + (with.value & ~with.compare);
    return inner ^ ((old ^ with.value) & with.compare);
  }
  const bool same = ((old ^ with.compare) & with.compare_mask) == 0;
  return same ? (old & ~with.swap_mask) | (with.value & with.swap_mask) : old;
}

/// 4 or 8 naturally aligned bytes, within the aligned 8 that the processor swaps.
struct Target {
  std::byte* word = nullptr;
  unsigned shift = 0;
  std::uint64_t mask = ~std::uint64_t{0};
};

Target target_of(std::byte* at, std::uint32_t bytes) {
  if (bytes == 8) return {.word = at};
  const auto within = reinterpret_cast<std::uintptr_t>(at) % 8;
  return {.word = at - within, .shift = static_cast<unsigned>(8 * within), .mask = 0xffffffff};
}

bool masked_atomic(const Target& target, const Operands& with, std::uint64_t& original) {
  std::uint64_t old = 0;
  if (!dma::copy(&old, target.word, sizeof old)) return false;
  for (unsigned tries = 0; tries < kMaxTries; ++tries) {
    original = old >> target.shift & target.mask;
    const auto changed = (outcome(with, original) & target.mask) << target.shift;
    const auto wanted = (old & ~(target.mask << target.shift)) | changed;
    std::uint64_t seen = 0;
    if (!dma::compare_swap64(target.word, old, wanted, seen)) return false;
    if (seen == old) return true;
    old = seen;
  }
  return false;
}

bool is_masked(PacketOpcode operation) {
  return operation == PacketOpcode::kMaskedCompareSwap || operation == PacketOpcode::kMaskedFetchAdd;
}

bool execute(const Packet& packet, std::byte* at, std::uint64_t& original) {
  const auto operation = operation_of(packet.opcode);
  if (operation == PacketOpcode::kFetchAdd) return dma::fetch_add64(at, packet.swap_add, original);
  if (!is_masked(operation)) return dma::compare_swap64(at, packet.compare(), packet.swap_add, original);
  Operands with{
      .add = operation == PacketOpcode::kMaskedFetchAdd, .value = packet.swap_add, .compare = packet.compare()};
  if (!with.add) {
    std::memcpy(&with.swap_mask, packet.payload(), sizeof with.swap_mask);
    std::memcpy(&with.compare_mask, packet.payload() + 8, sizeof with.compare_mask);
  }
  return masked_atomic(target_of(at, packet.dma_bytes), with, original);
}

// Bytes that the packet names, or 0 where it makes no sense.
std::uint32_t width_of(const Packet& packet) {
  const auto operation = operation_of(packet.opcode);
  if (!is_masked(operation)) return 8;
  const bool complete = packet.payload_bytes == (operation == PacketOpcode::kMaskedCompareSwap ? 16 : 0);
  return complete && (packet.dma_bytes == 4 || packet.dma_bytes == 8) ? packet.dma_bytes : 0;
}

}  // namespace

void DataPath::on_atomic(Qp& qp, const Packet& packet) {
  auto& responder = qp.responder;
  const bool room = responder.may_owe_more(qp.attributes.responder_reads);
  const bool allowed = (qp.attributes.access & kRemoteAtomic) != 0;
  const auto bytes = width_of(packet);
  if (!allowed || !room || bytes == 0 || packet.va % bytes != 0) return nak(qp, packet.psn, aeth::kNakInvalidRequest);
  const Span span = resolve(device_, {packet.rkey, pdn_of(qp), kRemoteAtomic, packet.va, bytes, qp.config.qpn});
  std::byte* const at = in_one_piece(device_, span);
  if (at == nullptr || reinterpret_cast<std::uintptr_t>(at) % bytes != 0) {
    return nak(qp, packet.psn, aeth::kNakRemoteAccess);
  }
  std::uint64_t original = 0;
  if (!execute(packet, at, original)) return nak(qp, packet.psn, aeth::kNakRemoteOperation);
  advance(qp, packet, 1);
  responder.owe(
      {.kind = ResponderResource::Kind::kAtomic, .first_psn = packet.psn, .msn = responder.msn, .original = original});
}

}  // namespace marrow::cx7
