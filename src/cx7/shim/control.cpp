// SPDX-License-Identifier: Apache-2.0
// See control.h; and the dump at exit that MARROW_SIM_STATS=1 asks for.
#include "cx7/shim/control.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "cx7/fw/port.h"
#include "cx7/shim/activation.h"
#include "cx7/shim/board.h"
#include "cx7/shim/engine_thread.h"
#include "cx7/shim/settings.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

// Order of TraceEvent::Kind.
constexpr std::array kTraceNames = {"doorbell",     "fetch", "packet_sent",     "remote_write", "ack_sent",
                                    "ack_received", "cqe",   "packet_received", "retired"};

static_assert(sizeof(marrow_cx7_trace_event) == sizeof(TraceEvent));
static_assert(offsetof(marrow_cx7_trace_event, device) == offsetof(TraceEvent, device));
static_assert(offsetof(marrow_cx7_trace_event, time_ns) == offsetof(TraceEvent, time_ns));
static_assert(offsetof(marrow_cx7_trace_event, qpn) == offsetof(TraceEvent, qpn));
static_assert(offsetof(marrow_cx7_trace_event, c) == offsetof(TraceEvent, c));

std::string& last_error() {
  thread_local std::string text;
  return text;
}

int fail(std::string text) {
  last_error() = std::move(text);
  return -1;
}

/// Values in the order of kCounterNames: the struct is nothing but them.
std::array<std::uint64_t, kCounterNames.size()> device_counters(int device) {
  std::array<std::uint64_t, kCounterNames.size()> values{};
  if (Engine* const engine = EngineThread::instance().engine()) {
    const Engine::Lock lock(*engine);
    const Counters counters = engine->counters(static_cast<std::uint8_t>(device));
    std::memcpy(values.data(), &counters, sizeof values);
  }
  return values;
}

std::array<std::uint64_t, kEngineCounterNames.size()> engine_counters() {
  const EngineActivity& activity = EngineThread::instance().activity();
#define MARROW_VALUE(name) activity.name.load(std::memory_order_relaxed),
  return {MARROW_CX7_ENGINE_COUNTERS(MARROW_VALUE)};
#undef MARROW_VALUE
}

std::array<std::uint64_t, kLinkCounterNames.size()> link_counters() {
  std::array<std::uint64_t, kLinkCounterNames.size()> values{};
  if (Engine* const engine = EngineThread::instance().engine()) {
    const Engine::Lock lock(*engine);
    const LinkCounters counters = engine->fabric().counters();
    std::memcpy(values.data(), &counters, sizeof values);
  }
  return values;
}

template <class Names, class Values>
int fill(const Names& names, const Values& values, marrow_cx7_stat* to, int most) {
  for (std::size_t i = 0; i < names.size() && static_cast<int>(i) < most; ++i) {
    to[i] = {.name = names[i].data(), .value = values[i]};
  }
  return static_cast<int>(names.size());
}

/// Runs `action` with the engine's lock held; refuses before the first open.
template <class Action>
int with_engine(Action action) {
  Engine* const engine = EngineThread::instance().engine();
  if (engine == nullptr) return fail("no device was opened yet");
  const Engine::Lock lock(*engine);
  return action(*engine);
}

std::string describe_counters(int device, std::string_view owner) {
  std::array<marrow_cx7_stat, 64> stats{};
  const int n =
      std::min(marrow_cx7_stats(device, stats.data(), static_cast<int>(stats.size())), static_cast<int>(stats.size()));
  std::string text;
  for (int i = 0; i < n; ++i) {
    const auto& stat = stats[static_cast<std::size_t>(i)];
    if (stat.value != 0) text += fmt::format("marrow[{}] {}: {} {}\n", ::getpid(), owner, stat.name, stat.value);
  }
  return text;
}

/// What was sent and received before the process's last step is in the capture.
[[gnu::destructor]] void complete_capture() {
  Engine* const engine = EngineThread::instance().engine();
  if (engine == nullptr) return;
  const Engine::Lock lock(*engine);
  engine->fabric().flush_capture();
}

/// What GPU threads have counted lies on the GPU: nobody can read it there later.
[[gnu::destructor]] void complete_place() {
  Engine* const engine = EngineThread::instance().engine();
  BoardProcess* const place = EngineThread::instance().place();
  if (engine == nullptr || place == nullptr) return;
  const Engine::Lock lock(*engine);
  place->counts.devices = engine->counts();
}

/// What is zero is left out; a process that opened no device says nothing.
[[gnu::destructor]] void dump_stats() {
  if (EngineThread::instance().engine() == nullptr || !settings_or_exit().stats_at_exit) return;
  std::string text = describe_counters(MARROW_CX7_ENGINE, "engine");
  for (std::uint8_t i = 0; i < kDevices; ++i) text += describe_counters(i, device_facts(i).name);
  [[maybe_unused]] const auto written = ::syscall(SYS_write, STDERR_FILENO, text.data(), text.size());
}

}  // namespace
}  // namespace marrow::cx7

using namespace marrow::cx7;  // NOLINT(google-build-using-namespace): what follows is this namespace's face in C

const char* marrow_cx7_version(void) {
  return MARROW_CX7_VERSION;
}

int marrow_cx7_enable(void) {
  try {
    activate();
    return 0;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

void marrow_cx7_disable(void) {
  deactivate();
}

int marrow_cx7_is_enabled(void) {
  return is_active() ? 1 : 0;
}

const char* marrow_cx7_error(void) {
  return last_error().c_str();
}

int marrow_cx7_stats(int device, marrow_cx7_stat* to, int most) {
  if (device == MARROW_CX7_ENGINE) {
    const int of_engine = fill(kEngineCounterNames, engine_counters(), to, most);
    const int left = std::max(most - of_engine, 0);
    return of_engine + fill(kLinkCounterNames, link_counters(), left == 0 ? to : to + of_engine, left);
  }
  if (device < 0 || device >= kDevices) return fail(fmt::format("there is no device {}", device));
  return fill(kCounterNames, device_counters(device), to, most);
}

int marrow_cx7_trace_enable(int on) {
  return with_engine([on](Engine& engine) {
    if (engine.trace().is_elsewhere()) return fail("marrow sim --trace has the trace of this process");
    engine.trace().enable(on != 0);
    return 0;
  });
}

int marrow_cx7_trace_read(marrow_cx7_trace_event* to, int most) {
  return with_engine([=](Engine& engine) {
    std::array<TraceEvent, Trace::kEvents> events;
    const std::size_t n = engine.trace().read(events.data(), static_cast<std::size_t>(std::max(most, 0)));
    for (std::size_t i = 0; i < n; ++i) {
      const TraceEvent& e = events[i];
      to[i] = {static_cast<std::uint8_t>(e.kind), e.device, e.opcode, e.peer, e.qpn, e.time_ns, e.a, e.b, e.c};
    }
    return static_cast<int>(n);
  });
}

const char* marrow_cx7_trace_name(int kind) {
  const auto known = kind >= 0 && static_cast<std::size_t>(kind) < kTraceNames.size();
  return known ? kTraceNames[static_cast<std::size_t>(kind)] : nullptr;
}
