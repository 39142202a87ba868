// SPDX-License-Identifier: Apache-2.0
// See fault_gate.h.
#include "cx7/fabric/fault_gate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "cx7/fabric/fabric.h"
#include "cx7/fabric/icrc.h"
#include "cx7/fabric/roce_format.h"

namespace marrow::cx7 {
namespace {

constexpr std::size_t kMostHeld = 4096;                                    // what comes above is not held back
constexpr FaultGate::Time kLongestReorder = std::chrono::milliseconds(1);  // where no later packet comes
constexpr FaultGate::Time kNever = std::chrono::hours(24);

bool is_answer(PacketOpcode opcode) {
  const auto operation = operation_of(opcode);
  return operation >= PacketOpcode::kReadResponseFirst && operation <= PacketOpcode::kAtomicAcknowledge;
}

std::vector<std::byte> copy_of(const Packet& packet) {
  std::vector<std::byte> bytes(sizeof packet + packet.payload_bytes);
  std::memcpy(bytes.data(), &packet, bytes.size());
  return bytes;
}

/// Vectors are not aligned for packets.
struct alignas(Packet) Room {
  std::array<std::byte, sizeof(Packet) + kMaxPayload> bytes;
};

}  // namespace

FaultGate::Time FaultGate::since_start(Time now) {
  if (!std::exchange(started_, true)) start_ = now;
  return now - start_;
}

bool FaultGate::meets(const FaultRule& rule, std::size_t index, const Packet& packet) const {
  if (!acts_on_packets(rule.kind) ||
      (rule.of != FaultOf::kAll && is_answer(packet.opcode) != (rule.of == FaultOf::kAnswers))) {
    return false;
  }
  return fault_chance(plan_, index, packets_) < rule.rate;
}

bool FaultGate::lasts(FaultKind kind, Time now) {
  const Time at = since_start(now);
  return std::any_of(plan_.rules.begin(), plan_.rules.end(), [&](const FaultRule& rule) {
    return rule.kind == kind && at >= rule.at && at - rule.at < rule.time;
  });
}

FaultGate::Time FaultGate::next_due(Time now) {
  Time next = kNever;
  for (const Held& held : held_) next = std::min(next, held.due - now);
  const Time at = since_start(now);
  for (const FaultRule& rule : plan_.rules) {
    if (rule.kind != FaultKind::kDown) continue;
    for (const Time edge : {rule.at, rule.at + rule.time}) {
      if (edge > at) next = std::min(next, edge - at);
    }
  }
  return std::max(next, Time{0});
}

bool FaultGate::hold(const Packet& packet, Time due, std::uint64_t after) {
  if (held_.size() >= kMostHeld) return false;
  held_.push_back({due, after, copy_of(packet)});
  return true;
}

/// Delay and reorder.
bool FaultGate::put_off(std::size_t index, const Packet& packet, Time now) {
  const FaultRule& rule = plan_.rules[index];
  const bool delay = rule.kind == FaultKind::kDelay;
  if (!hold(packet, now + (delay ? rule.time : kLongestReorder), delay ? UINT64_MAX : packets_ + rule.depth)) {
    return false;
  }
  ++(delay ? counters_.faults_delayed : counters_.faults_reordered);
  return true;
}

/// Requests wait for a responder that is slow, in the order in which they came; a request may make it slow.
bool FaultGate::stalls(std::size_t index, const Packet& packet, Time now) {
  if (is_answer(packet.opcode)) return false;
  if (now >= stalled_until_ && meets(plan_.rules[index], index, packet)) stalled_until_ = now + plan_.rules[index].time;
  if (now >= stalled_until_ || !hold(packet, stalled_until_, UINT64_MAX)) return false;
  ++counters_.faults_slow;
  return true;
}

/// Flips one bit of the packet as it would travel, and checks it as a receiver would.
bool FaultGate::survives_damage(const Packet& packet, std::size_t rule) const {
  std::vector<std::byte> bytes(kMostHeaderBytes);
  bytes.resize(write_headers(packet, bytes.data()));
  if (bytes.empty()) return false;
  bytes.insert(bytes.end(), packet.payload(), packet.payload() + packet.payload_bytes);
  const auto sum = [&bytes] {
    auto masked = bytes;
    masked[kIcrcMaskedAt] = std::byte{0xff};
    return ~crc32_update(kCrcAfterOnes, masked);
  };
  const std::uint32_t before = sum();
  const auto bit = mixed(plan_.seed ^ mixed(packets_ + rule)) % (bytes.size() * 8);
  bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
  return sum() == before;
}

void FaultGate::admit(const Packet& packet, Time now, const PacketSink& sink) {
  ++packets_;
  if (lasts(FaultKind::kDown, now)) {
    ++counters_.faults_link_down;
    return;
  }
  if (lasts(FaultKind::kBlackHole, now)) {
    ++counters_.faults_black_hole;
    return;
  }
  bool twice = false;
  for (std::size_t k = 0; k < plan_.rules.size(); ++k) {
    const FaultRule& rule = plan_.rules[k];
    if (rule.kind == FaultKind::kSlowResponder) {
      if (stalls(k, packet, now)) return;
      continue;
    }
    if (!meets(rule, k, packet)) continue;
    if (rule.kind == FaultKind::kLoss) {
      ++counters_.faults_lost;
      return;
    }
    if (rule.kind == FaultKind::kCorrupt) {
      ++counters_.faults_corrupted;
      if (!survives_damage(packet, k)) return;
    } else if (rule.kind == FaultKind::kDuplicate) {
      ++counters_.faults_duplicated;
      twice = true;
    } else if (put_off(k, packet, now)) {
      return;
    }
  }
  sink(packet);
  if (twice) sink(packet);
}

unsigned FaultGate::release(Time now, const PacketSink& sink) {
  unsigned released = 0;
  // In the order in which they came, as far as they are due. Each is taken out before it is handed on.
  for (std::size_t k = 0; k < held_.size();) {
    if (!held_[k].is_due(now, packets_)) {
      ++k;
      continue;
    }
    Room room;
    const auto bytes = std::move(held_[k].bytes);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(k));
    std::memcpy(room.bytes.data(), bytes.data(), bytes.size());
    sink(*reinterpret_cast<const Packet*>(room.bytes.data()));
    ++released;
  }
  return released;
}

}  // namespace marrow::cx7
