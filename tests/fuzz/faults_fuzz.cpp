// SPDX-License-Identifier: Apache-2.0
// Any text as rules of faults: it is refused with a sentence and a hint, or it is a plan within its bounds, which then
// treats packets without losing count of one.
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "cx7/fabric/fabric.h"
#include "cx7/fabric/fault_gate.h"
#include "fuzz/input.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

constexpr std::chrono::hours kLongest{1};
constexpr std::uint32_t kPackets = 16;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const FaultPlan& plan) {
  require(plan.rules.size() <= 64);
  for (const auto& rule : plan.rules) {
    require(rule.rate >= 0 && rule.rate <= 1);
    require(rule.time.count() >= 0 && rule.time <= kLongest && rule.at.count() >= 0 && rule.at <= kLongest);
    require(rule.depth <= 1024);
  }
}

struct Room {
  Packet packet;
  std::array<std::byte, 64> payload{};
};

/// Whatever the rules, each packet comes out at most twice, and all that is held back comes out in the end.
void use(const FaultPlan& plan) {
  LinkCounters counters;
  FaultGate gate(plan, counters);
  unsigned out = 0;
  const PacketSink sink{&out, [](void* count, const Packet& packet) {
                          require(packet.payload_bytes == sizeof(Room::payload));
                          ++*static_cast<unsigned*>(count);
                        }};
  Room room{.packet = {.payload_bytes = sizeof(Room::payload), .opcode = PacketOpcode::kWriteOnly}};
  std::chrono::nanoseconds now{1};
  for (std::uint32_t k = 0; k < kPackets; ++k, now += std::chrono::milliseconds(1)) {
    room.packet.opcode = (k & 1) != 0 ? PacketOpcode::kAcknowledge : PacketOpcode::kWriteOnly;
    gate.release(now, sink);
    gate.admit(room.packet, now, sink);
    require(gate.next_due(now).count() >= 0);
  }
  gate.release(now + 2 * kLongest, sink);
  const auto gone = counters.faults_lost + counters.faults_black_hole + counters.faults_link_down;
  require(out + gone + counters.faults_corrupted >= kPackets && out <= 2 * kPackets);
}

/// Half of the inputs are text as it stands. In the others each byte is a word of the language, or the character after
/// it: so many of them mean something.
std::string text_of(const std::uint8_t* data, std::size_t size) {
  constexpr std::array<std::string_view, 40> kWords{
      "loss ", "duplicate ", "reorder ", "delay ", "corrupt ", "black-hole ", "down ", "seed ", "rate=", "of=",
      "time=", "at=",        "for=",     "depth=", "requests", "answers",     "all",   "1%",    "50%",   "100%",
      "0.1",   "1e-3",       "0",        "1",      "7",        "3600s",       "1ms",   "5us",   "10ns",  "2s",
      "; ",    "\n",         "#",        " ",      "-1",       "nan",         "inf",   "1e308", "1024",  "="};
  if (size == 0 || (data[0] & 1) == 0) return {data, data + size};
  std::string text;
  for (std::size_t k = 1; k < size; ++k) {
    if (data[k] < kWords.size() * 6) {
      text += kWords[data[k] % kWords.size()];
    } else if (k + 1 < size) {
      text += static_cast<char>(data[++k]);
    }
  }
  return text;
}

}  // namespace
}  // namespace marrow::cx7

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace marrow;
  const std::string text = cx7::text_of(data, size);
  try {
    const auto plan = cx7::parse_faults(text);
    cx7::check(plan);
    cx7::use(plan);
  } catch (const util::Error& error) {
    cx7::require(error.kind() == util::ErrorKind::kUsage && *error.what() != '\0' && !error.hint().empty());
  }
  return 0;
}
