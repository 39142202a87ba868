// SPDX-License-Identifier: Apache-2.0
// See log.h. spdlog formats the line; the sink is ours, because a line must leave in one write(2) that no interposed
// libc call can see, and because its lock must survive fork().
#include "util/log.h"

#include <pthread.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace marrow::util::log {
namespace {

struct LevelName {
  std::string_view text;
  Level level;
};
constexpr std::array kLevelNames{LevelName{"debug", Level::kDebug}, LevelName{"info", Level::kInfo},
                                 LevelName{"warn", Level::kWarn}, LevelName{"error", Level::kError},
                                 LevelName{"off", Level::kOff}};

/// In a wrong value we would rather hear too much than nothing, and say so.
Level level_from_environment() noexcept {
  const char* text = std::getenv("MARROW_LOG");
  if (text == nullptr) return Level::kWarn;
  for (const LevelName& name : kLevelNames) {
    if (name.text == text) return name.level;
  }
  constexpr std::string_view kSaid = "marrow: MARROW_LOG is none of debug, info, warn, error and off: taken as debug\n";
  static_cast<void>(::syscall(SYS_write, STDERR_FILENO, kSaid.data(), kSaid.size()));
  return Level::kDebug;
}

std::atomic<Level>& current_level() noexcept {
  static std::atomic<Level> level{level_from_environment()};
  return level;
}

spdlog::level::level_enum to_spdlog(Level at) noexcept {
  constexpr std::array kMap{spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err,
                            spdlog::level::off};
  return kMap[static_cast<std::size_t>(at)];
}

class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    // A lost log line is not worth an error: there is nowhere left to report it.
    [[maybe_unused]] const auto written = ::syscall(SYS_write, STDERR_FILENO, line.data(), line.size());
  }
  void flush_() override {}
};

struct State {
  std::shared_ptr<StderrSink> sink = std::make_shared<StderrSink>();
  spdlog::logger logger{"marrow", sink};
  std::mutex seen_mutex;
  std::set<std::string, std::less<>> seen;
};

State& state();

void before_fork() {
  state().seen_mutex.lock();
  state().sink->lock_for_fork();
}
void after_fork() {
  state().sink->unlock_after_fork();
  state().seen_mutex.unlock();
}

/// Made at first use and never destroyed: threads may still log while the process exits.
State& state() {
  static State* const instance = [] {
    auto* made = new State;
    made->logger.set_level(spdlog::level::trace);  // write() filters
    made->logger.set_pattern("marrow[%P] %l: %v");
    return made;
  }();
  static const int registered = pthread_atfork(before_fork, after_fork, after_fork);
  static_cast<void>(registered);
  return *instance;
}

}  // namespace

Level level() noexcept {
  return current_level().load(std::memory_order_relaxed);
}

void set_level(Level level) noexcept {
  current_level().store(level, std::memory_order_relaxed);
}

void write(Level at, std::string_view text) {
  if (!enabled(at) || at == Level::kOff) return;
  state().logger.log(to_spdlog(at), spdlog::string_view_t(text.data(), text.size()));
}

namespace {
constinit std::atomic<Listener> current_listener{nullptr};
}  // namespace

void on_first(Listener listener) noexcept {
  current_listener.store(listener, std::memory_order_release);
}

Listener listener() noexcept {
  return current_listener.load(std::memory_order_acquire);
}

bool first_time(std::string_view key) {
  State& log = state();
  const std::lock_guard lock(log.seen_mutex);
  return log.seen.emplace(key).second;
}

}  // namespace marrow::util::log
