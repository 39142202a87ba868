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

/// A well-mixed 64-bit word of a counter [prm: splitmix64].
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

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

double FaultGate::chance(std::size_t rule) const {
  const auto word = mixed(mixed(plan_.seed + rule * 0x100000001b3) ^ packets_);
  return static_cast<double>(word >> 11) * 0x1p-53;
}

bool FaultGate::meets(const FaultRule& rule, std::size_t index, const Packet& packet) const {
  if (rule.rate == 0 || (rule.of != FaultOf::kAll && is_answer(packet.opcode) != (rule.of == FaultOf::kAnswers))) {
    return false;
  }
  return chance(index) < rule.rate;
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

bool FaultGate::hold(const FaultRule& rule, const Packet& packet, Time now) {
  if (held_.size() >= kMostHeld) return false;
  const bool delay = rule.kind == FaultKind::kDelay;
  held_.push_back(
      {now + (delay ? rule.time : kLongestReorder), delay ? UINT64_MAX : packets_ + rule.depth, copy_of(packet)});
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
    if (!meets(rule, k, packet)) continue;
    const bool delay = rule.kind == FaultKind::kDelay;
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
    } else if (hold(rule, packet, now)) {
      ++(delay ? counters_.faults_delayed : counters_.faults_reordered);
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
