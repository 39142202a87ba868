// SPDX-License-Identifier: Apache-2.0
// See clock_keeper.h. The keeper reads lines, "+" or "-" with a GPU's place on PCIe, until the last writer has ended;
// a dead process cannot keep its end open. A session of its own keeps a terminal's signals away from it.
#include "gpu/clock_keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"

namespace marrow::gpu {
namespace {

std::set<std::string> locked_at_the_end(int from) {
  std::set<std::string> locked;
  std::string text;
  std::array<char, 256> bytes{};
  for (;;) {
    const auto n = ::read(from, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return locked;
    text.append(bytes.data(), static_cast<std::size_t>(n));
    for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      const auto bus_id = text.substr(1, end - 1);
      if (text.front() == '+') locked.insert(bus_id);
      if (text.front() == '-') locked.erase(bus_id);
      text.erase(0, end + 1);
    }
  }
}

[[noreturn]] void keep(int from) {
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO}) ::dup2(nowhere, standard);
  int code = 0;
  for (const auto& bus_id : locked_at_the_end(from)) {
    try {
      Nvml(bus_id).reset_sm_clock();
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "error: the SM clock is still locked: %s\ntry: nvidia-smi -i %s -rgc\n", problem.what(),
                   bus_id.c_str());
      code = 1;
    }
  }
  std::_Exit(code);
}

}  // namespace

ClockKeeper::ClockKeeper() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw util::system_error("pipe", errno);
  util::UniqueFd from(ends[0]);
  to_keeper_.reset(ends[1]);
  std::fflush(nullptr);
  keeper_ = ::fork();
  if (keeper_ < 0) throw util::system_error("fork", errno);
  if (keeper_ != 0) return;
  to_keeper_.reset();
  keep(from.get());
}

ClockKeeper::~ClockKeeper() {
  if (keeper_ > 0) (void)finish();
}

void ClockKeeper::tell(char what, const std::string& bus_id) const {
  const auto line = fmt::format("{}{}\n", what, bus_id);  // shorter than what a pipe takes at once
  if (::write(to_keeper_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  throw util::system_error("the process that gives locked clocks back cannot be reached, so none is locked", errno);
}

void ClockKeeper::expect_lock(const std::string& bus_id) const {
  tell('+', bus_id);
}
void ClockKeeper::forget_lock(const std::string& bus_id) const {
  tell('-', bus_id);
}

bool ClockKeeper::finish() {
  constexpr std::chrono::seconds kLimit{10};
  to_keeper_.reset();
  const auto until = util::now() + kLimit;
  int status = 0;
  while (::waitpid(keeper_, &status, WNOHANG) == 0) {
    if (util::now() >= until) {
      util::log::warn("the process that gives locked clocks back is still at work after {} s", kLimit.count());
      keeper_ = -1;
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  keeper_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void ClockLock::set(unsigned mhz) {
  if (!locked_) keeper_.expect_lock(gpu_.bus_id());
  try {
    gpu_.lock_sm_clock(mhz);
    locked_ = true;
  } catch (...) {
    if (!locked_) keeper_.forget_lock(gpu_.bus_id());
    throw;
  }
}

ClockLock::~ClockLock() {
  if (!locked_) return;
  try {
    gpu_.reset_sm_clock();
    keeper_.forget_lock(gpu_.bus_id());
  } catch (const std::exception& problem) {
    util::log::warn("{}; it is tried again at the end", problem.what());
  }
}

}  // namespace marrow::gpu
