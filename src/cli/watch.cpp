// SPDX-License-Identifier: Apache-2.0
// From the NIC's trace events (cx7/hca/trace.h says what a, b and c are) to sentences.
#include "cli/watch.h"

#include <fmt/format.h>

#include <array>

#include "util/error.h"
#ifdef MARROW_HAS_CX7
#include "cx7/hca/trace.h"
#include "cx7/shim/control.h"
#endif

namespace marrow::cli {

#ifdef MARROW_HAS_CX7
namespace {

using Kind = cx7::TraceEvent::Kind;
using DeviceEvent = marrow_cx7_trace_event;

struct Told {
  Kind kind;
  int stop;
  std::string (*tell)(const DeviceEvent&);
};

constexpr std::array<Told, 7> kTold{{
    {Kind::kDoorbell, 5,
     [](const DeviceEvent& e) {
       return fmt::format("QP 0x{:x}: producer index {} announced, dbrec says {}", e.a, e.b, e.c);
     }},
    {Kind::kFetch, 6,
     [](const DeviceEvent& e) {
       return fmt::format("QP 0x{:x}: WQE {} fetched, opcode 0x{:02x}, {} segments", e.a, e.b, e.c >> 8U & 0xffU,
                          e.c & 0xffU);
     }},
    {Kind::kPacketSent, 6,
     [](const DeviceEvent& e) {
       return fmt::format("packet to QP 0x{:x}: PSN 0x{:06x}, opcode 0x{:02x}", e.a, e.b, e.c);
     }},
    {Kind::kRemoteWrite, 7,
     [](const DeviceEvent& e) { return fmt::format("QP 0x{:x}: {} bytes written at 0x{:x}", e.a, e.c, e.b); }},
    {Kind::kAckSent, 7,
     [](const DeviceEvent& e) {
       return fmt::format("acknowledged to QP 0x{:x}: PSN 0x{:06x}, syndrome 0x{:02x}, MSN {}", e.a, e.b, e.c >> 24U,
                          e.c & 0xffffffU);
     }},
    {Kind::kAckReceived, 8,
     [](const DeviceEvent& e) {
       return fmt::format("QP 0x{:x}: PSN 0x{:06x} acknowledged, syndrome 0x{:02x}", e.a, e.b, e.c);
     }},
    {Kind::kCqe, 8,
     [](const DeviceEvent& e) {
       return fmt::format("CQE to CQ 0x{:x}: WQE {}, op_own 0x{:02x}, syndrome 0x{:02x}", e.a, e.b, e.c >> 8U,
                          e.c & 0xffU);
     }},
}};

}  // namespace

void watch_software_nic(bool on) {
  if (marrow_cx7_trace_enable(on ? 1 : 0) != 0) throw util::Error(marrow_cx7_error());
}

std::vector<experiments::TraceLine> what_the_nic_saw() {
  std::vector<DeviceEvent> events(cx7::Trace::kEvents);
  const int n = marrow_cx7_trace_read(events.data(), static_cast<int>(events.size()));
  if (n < 0) throw util::Error(marrow_cx7_error());
  events.resize(static_cast<std::size_t>(n));
  std::vector<experiments::TraceLine> lines;
  for (const auto& event : events) {
    for (const auto& told : kTold) {
      if (static_cast<std::uint8_t>(told.kind) != event.kind) continue;
      lines.push_back({told.stop, event.time_ns, fmt::format("mlx5_sim{} {}", event.device, told.tell(event))});
    }
  }
  return lines;
}

#else

void watch_software_nic(bool) {
  throw util::Error("this binary was built without the software NIC", util::ErrorKind::kWaived);
}

std::vector<experiments::TraceLine> what_the_nic_saw() {
  return {};
}

#endif

}  // namespace marrow::cli
