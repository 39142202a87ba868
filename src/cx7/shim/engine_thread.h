// SPDX-License-Identifier: Apache-2.0
// The one thread of a process that steps the engine. Born at the first open of a device, never joined: it may work
// until the process's last instruction, and everything it touches lives as long.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "cx7/hca/engine.h"
#include "cx7/shim/doorbell_alarm.h"
#include "cx7/shim/scheduling.h"

namespace marrow::cx7 {

// clang-format off
#define MARROW_CX7_ENGINE_COUNTERS(row) \
  row(steps)                    \
  row(steps_with_work)          \
  row(sleeps)                   \
  row(slept_ns)                 \
  row(sleeps_cut_short)         /* by a packet or by a call */ \
  row(sleeps_followed_by_work)  \
  row(alarms_armed)             /* no more looking for doorbells: their pages are protected */ \
  row(alarms_rung)              \
  row(involuntary_switches)     /* the evidence that no core is free */
// clang-format on

/// Written by the engine thread alone, read by anybody.
struct EngineActivity {
#define MARROW_FIELD(name) std::atomic<std::uint64_t> name{0};
  MARROW_CX7_ENGINE_COUNTERS(MARROW_FIELD)
#undef MARROW_FIELD
};

inline constexpr std::array kEngineCounterNames = {
#define MARROW_NAME(name) std::string_view(#name),
    MARROW_CX7_ENGINE_COUNTERS(MARROW_NAME)
#undef MARROW_NAME
};

struct BoardProcess;

class EngineThread {
 public:
  /// The one of this process; never destroyed.
  static EngineThread& instance();

  /// The engine, made and set going at the first call. Throws util::Error. Any thread.
  Engine& start();
  /// Null before the first start().
  [[nodiscard]] Engine* engine() const { return engine_.load(std::memory_order_acquire); }
  [[nodiscard]] const EngineActivity& activity() const { return activity_; }
  /// Where `marrow sim` sees what this process counts; null where nobody looks.
  [[nodiscard]] BoardProcess* place() const { return place_; }

  /// After each control call: queue pairs may have come or gone, and with them the need to look for doorbells.
  void control_call_done();

  // Around fork(). In between, the engine thread stands still outside of every step.
  void before_fork();
  void after_fork_in_parent();
  /// Lets the engine go: its sockets belong to the parent. The child gets an engine of its own at its first open.
  void after_fork_in_child();

 private:
  EngineThread() = default;
  void run(Engine& engine);
  void note_work();
  bool tend_alarm(Engine& engine, bool wanted);
  bool rest(Engine& engine, Time most);
  void stand_still();

  std::mutex start_mutex_;
  std::atomic<Engine*> engine_{nullptr};
  std::atomic<bool> doorbells_{false};  // some QP exists
  BoardProcess* place_ = nullptr;       // set before engine_
  EngineActivity activity_;

  // The engine thread's own; in a forked child, the forking thread's.
  DoorbellAlarm alarm_;
  EvidenceReader evidence_;
  bool no_alarm_ = false;
  bool rested_ = false;

  std::mutex turn_;  // the engine thread's, given up only for a fork
  std::atomic<int> forks_{0};
  std::optional<Engine::Lock> fork_lock_;
};

}  // namespace marrow::cx7
