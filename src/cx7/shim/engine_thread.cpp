// SPDX-License-Identifier: Apache-2.0
// See engine_thread.h.
#include "cx7/shim/engine_thread.h"

#include <immintrin.h>
#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "cx7/hca/memory.h"
#include "cx7/shim/board.h"
#include "cx7/shim/device_files.h"
#include "cx7/shim/gpu_engine_loader.h"
#include "cx7/shim/idle_policy.h"
#include "cx7/shim/scheduling.h"
#include "cx7/shim/settings.h"
#include "util/clock.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

/// Blocks all signals that can wait, so that the application's handlers run on the application's threads. A fault of
/// the engine's own loads and stores cannot wait.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t most;
    sigfillset(&most);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&most, fault);
    pthread_sigmask(SIG_SETMASK, &most, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(util::now().count());
}

void register_fork_handlers() {
  // Lock order: the engine, then the table of descriptors.
  static constexpr auto kBefore = [] {
    EngineThread::instance().before_fork();
    DeviceFiles::instance().before_fork();
  };
  static constexpr auto kParent = [] {
    DeviceFiles::instance().after_fork_in_parent();
    EngineThread::instance().after_fork_in_parent();
  };
  static constexpr auto kChild = [] {
    DeviceFiles::instance().after_fork_in_child();
    EngineThread::instance().after_fork_in_child();
  };
  static const int once = ::pthread_atfork(kBefore, kParent, kChild);
  if (once != 0) throw util::system_error("pthread_atfork", once);
}

}  // namespace

EngineThread& EngineThread::instance() {
  static auto* const thread = new EngineThread;
  return *thread;
}

Engine& EngineThread::start() {
  const std::lock_guard lock(start_mutex_);
  if (Engine* running = engine()) return *running;
  register_fork_handlers();
  dma::install_fault_handler();
  TraceEvent* events = nullptr;
  std::uint32_t trace_events = 0;
  place_ = settings().board.empty() ? nullptr : take_place(settings().board.c_str(), events, trace_events);
  auto* const counts = place_ == nullptr ? nullptr : &place_->counts;
  auto fresh = std::make_unique<Engine>(settings().domain, settings().checking, settings().links, counts);
  if (trace_events != 0) fresh->trace().record_to(place_->trace, events, trace_events, now_ns);
  fresh->set_gpu_choice(gpu_choice());
  const SignalsBlocked during_birth;
  try {
    std::thread([this, &engine = *fresh] { run(engine); }).detach();
  } catch (const std::system_error& error) {
    throw util::system_error("start of the engine thread", error.code().value());
  }
  engine_.store(fresh.get(), std::memory_order_release);
  return *fresh.release();
}

void EngineThread::control_call_done() {
  Engine* const running = engine();
  if (running == nullptr) return;
  std::uint32_t qps = 0;
  {
    const Engine::Lock lock(*running);
    for (std::uint8_t i = 0; i < kDevices; ++i) {
      for (const auto& uar : running->device(i).uars) qps += static_cast<std::uint32_t>(uar->qps.size());
    }
    doorbells_.store(qps != 0, std::memory_order_relaxed);
  }
  running->fabric().wake();
}

void EngineThread::run(Engine& engine) {
  ::pthread_setname_np(::pthread_self(), "marrow-cx7");
  become_punctual();
  evidence_.open();
  IdlePolicy policy(settings().spin, usable_cores(), [this] {
    const Evidence evidence = evidence_.read();
    activity_.involuntary_switches.store(evidence.involuntary_switches, std::memory_order_relaxed);
    return evidence;
  });
  turn_.lock();
  for (;;) {  // ends with the process
    if (forks_.load(std::memory_order_relaxed) != 0) stand_still();
    const Time now = util::now();
    add(activity_.steps, 1);
    if (engine.step(now)) {
      note_work();
      policy.worked(now);
      continue;
    }
    const bool doorbells = doorbells_.load(std::memory_order_relaxed);
    if (doorbells && tend_alarm(engine, policy.wants_alarm(now))) continue;  // a store may have come just before
    const Time most = policy.pause(now, doorbells && !alarm_.armed());
    rested_ = most.count() != 0;
    if (!rested_) {
      _mm_pause();
    } else if (rest(engine, most)) {
      policy.worked(util::now());  // its doorbell comes in a moment
    }
  }
}

void EngineThread::note_work() {
  add(activity_.steps_with_work, 1);
  if (rested_) add(activity_.sleeps_followed_by_work, 1);
  rested_ = false;
  no_alarm_ = false;
  if (alarm_.armed()) alarm_.disarm();
}

/// True when the alarm was armed by this very call.
bool EngineThread::tend_alarm(Engine& engine, bool wanted) {
  if (!wanted && alarm_.armed()) alarm_.disarm();
  if (!wanted || alarm_.armed() || no_alarm_) return false;
  no_alarm_ = !alarm_.arm();  // then not again before the next work
  if (no_alarm_) return false;
  engine.fabric().watch(alarm_.fd());
  add(activity_.alarms_armed, 1);
  return true;
}

/// True when it was the alarm that ended the sleep.
bool EngineThread::rest(Engine& engine, Time most) {
  const Time from = util::now();
  engine.fabric().sleep(most);
  const Time slept = util::now() - from;
  add(activity_.sleeps, 1);
  add(activity_.slept_ns, static_cast<std::uint64_t>(slept.count()));
  if (slept < most) add(activity_.sleeps_cut_short, 1);
  if (!alarm_.rings()) return false;
  add(activity_.alarms_rung, 1);
  alarm_.disarm();
  return true;
}

void EngineThread::stand_still() {
  turn_.unlock();
  while (forks_.load(std::memory_order_relaxed) != 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
  turn_.lock();
}

void EngineThread::before_fork() {
  start_mutex_.lock();
  Engine* const running = engine();
  if (running == nullptr) return;
  forks_.fetch_add(1);
  running->fabric().wake();
  turn_.lock();
  fork_lock_.emplace(*running);
}

void EngineThread::after_fork_in_parent() {
  if (fork_lock_) {
    fork_lock_.reset();
    turn_.unlock();
    forks_.fetch_sub(1);
  }
  start_mutex_.unlock();
}

void EngineThread::after_fork_in_child() {
  if (fork_lock_) {
    fork_lock_.reset();
    turn_.unlock();
    forks_.store(0);
    doorbells_.store(false);
    alarm_.abandon();
    evidence_.close();
    delete engine_.exchange(nullptr);
  }
  start_mutex_.unlock();
}

}  // namespace marrow::cx7
