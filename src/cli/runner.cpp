// SPDX-License-Identifier: Apache-2.0
// The parent's side of runner.h: one pipe, one deadline, one child at a time.
#include "cli/runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/child.h"
#include "measure/record_json.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/log.h"

namespace marrow::cli {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kGrace{1000};     // between asking a task to stop and killing it
constexpr milliseconds kPollSlice{100};  // so that an interrupt is noticed

std::atomic<bool> interrupt_seen{false};
void note_interrupt(int) {
  interrupt_seen.store(true, std::memory_order_relaxed);
}

/// While it lives, SIGINT and SIGTERM only set a flag.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupt_seen = false;
    struct sigaction action {};
    action.sa_handler = note_interrupt;
    ::sigaction(SIGINT, &action, &old_int_);
    ::sigaction(SIGTERM, &action, &old_term_);
  }
  ~InterruptGuard() {
    ::sigaction(SIGINT, &old_int_, nullptr);
    ::sigaction(SIGTERM, &old_term_, nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

class Runner {
 public:
  Runner(const std::vector<Task>& tasks, const RunSettings& settings, std::string nic)
      : tasks_(tasks), settings_(settings), nic_(std::move(nic)) {}

  RunOutcome run() {
    const InterruptGuard guard;
    while (next() < tasks_.size() && !interrupt_seen) one_child();
    outcome_.interrupted = interrupt_seen;
    while (next() < tasks_.size()) add_without_run(measure::Status::kWaived, "interrupted before this row was reached");
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] std::size_t next() const { return outcome_.records.size(); }

  void add_without_run(measure::Status status, const std::string& reason) {
    const auto& task = tasks_[next()];
    auto record = experiments::blank_record(*task.experiment, task.point, {.nic = nic_, .profile = settings_.profile});
    if (!task.experiment->modelled) record.lane = settings_.lane;
    record.status = status;
    record.reason = reason;
    outcome_.records.push_back(std::move(record));
  }

  void one_child() {
    int ends[2];
    if (::pipe(ends) != 0) throw util::system_error("pipe", errno);
    util::UniqueFd in(ends[0]);
    util::UniqueFd out(ends[1]);
    std::fflush(nullptr);
    child_ = ::fork();
    if (child_ < 0) throw util::system_error("fork", errno);
    if (child_ == 0) {
      in.reset();
      child_main(tasks_, next(), settings_, out.get());
    }
    out.reset();
    text_.clear();
    broken_.clear();
    asked_to_stop_ = killed_ = false;
    started_ = next();  // until it says more, what goes wrong is the first row's
    restart_deadline();
    while (read_some(in.get())) watch_the_time();
    finish_child();
  }

  void restart_deadline() {
    deadline_ = util::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::duration<double>(settings_.timeout_s));
  }

  /// False at the end of the pipe.
  bool read_some(int fd) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(kPollSlice.count()));
    if (ready <= 0) return true;  // nothing yet, or a signal
    std::array<char, 65536> bytes{};
    const auto n = ::read(fd, bytes.data(), bytes.size());
    if (n < 0) return errno == EINTR;
    if (n == 0) return false;
    text_.append(bytes.data(), static_cast<std::size_t>(n));
    for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      take_line(text_.substr(0, end));
      text_.erase(0, end + 1);
    }
    return true;
  }

  void take_line(const std::string& line) {
    const auto json = measure::Json::parse(line);
    if (json.contains("start")) {
      started_ = next();
      const auto& task = tasks_[started_];
      util::log::info("{}: {} {}", task.experiment->name, task.point.path, task.point.policy);
      if (settings_.on_start) settings_.on_start(started_);
      restart_deadline();
    }
    if (json.contains("path") && !outcome_.path) outcome_.path = measure::path_from_json(json["path"]);
    if (json.contains("libraries")) outcome_.libraries = json["libraries"];
    if (json.contains("broken")) take_broken(json);
    if (json.contains("record") && next() < tasks_.size()) take_record(measure::record_from_json(json["record"]));
  }

  /// The child could not even begin: nothing can be measured this way.
  void take_broken(const measure::Json& json) {
    broken_ = json["broken"];
    broken_hint_ = json["hint"];
    broken_kind_ = static_cast<util::ErrorKind>(json["kind"].get<int>());
  }

  void take_record(measure::Record record) {
    if (asked_to_stop_ && !interrupt_seen && record.status == measure::Status::kFailed) {
      record.reason = fmt::format("{}, with {} operations done", over_the_limit(), record.counts.operations);
    }
    outcome_.records.push_back(std::move(record));
    restart_deadline();
  }

  [[nodiscard]] std::string over_the_limit() const {
    return fmt::format("gave up after the time limit of {} s", settings_.timeout_s);
  }

  void watch_the_time() {
    const auto now = util::now();
    if (!asked_to_stop_ && (interrupt_seen || now >= deadline_)) {
      asked_to_stop_ = true;
      kill_at_ = now + kGrace;
      ::kill(child_, SIGTERM);
    } else if (asked_to_stop_ && !killed_ && now >= kill_at_) {
      killed_ = true;
      ::kill(child_, SIGKILL);
    }
  }

  /// Reaps the child. If it left the row that it was at without a record, says how that came about.
  void finish_child() {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    if (next() == tasks_.size()) return;
    if (!broken_.empty()) {
      if (broken_kind_ == util::ErrorKind::kUsage) throw util::Error(broken_, broken_kind_, broken_hint_);
      const bool waived = broken_kind_ == util::ErrorKind::kWaived;
      const auto reason = broken_hint_.empty() ? broken_ : broken_ + "; try " + broken_hint_;
      const auto kind = waived ? measure::Status::kWaived : measure::Status::kFailed;
      while (next() < tasks_.size()) add_without_run(kind, reason);
    } else if (next() == started_) {
      add_without_run(measure::Status::kFailed, how_it_ended(status));
    }
  }

  [[nodiscard]] std::string how_it_ended(int status) const {
    auto why = interrupt_seen ? std::string("interrupted") : over_the_limit();
    if (killed_) return why + "; it did not stop when asked and was killed";
    if (asked_to_stop_) return why;
    if (WIFSIGNALED(status)) return fmt::format("crashed: {}", ::strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0) return fmt::format("ended with exit status {}", WEXITSTATUS(status));
    return "ended without a result";
  }

  const std::vector<Task>& tasks_;
  const RunSettings& settings_;
  std::string nic_;
  RunOutcome outcome_;
  pid_t child_ = -1;
  std::size_t started_ = 0;  // the row that the child is at, or was at last
  std::string text_;
  std::string broken_;
  std::string broken_hint_;
  util::ErrorKind broken_kind_{};
  bool asked_to_stop_ = false;
  bool killed_ = false;
  std::chrono::nanoseconds deadline_{};
  std::chrono::nanoseconds kill_at_{};
};

}  // namespace

RunOutcome run_tasks(const std::vector<Task>& tasks, const RunSettings& settings, const std::string& nic) {
  return Runner(tasks, settings, nic).run();
}

}  // namespace marrow::cli
