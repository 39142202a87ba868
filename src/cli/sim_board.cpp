// SPDX-License-Identifier: Apache-2.0
// See sim_board.h.
#include "cli/sim_board.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "util/error.h"

namespace marrow::cli {
namespace {

std::atomic<pid_t> child{0};
static_assert(std::atomic<pid_t>::is_always_lock_free, "it is read in a signal handler");

/// What somebody sends to us alone is for the command. Keys of a terminal reach it without us.
void pass_on(int number) {
  const int kept = errno;
  if (const pid_t to = child.load(); to > 0) ::kill(to, number);
  errno = kept;
}

void outlive_the_command() {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  for (const int number : {SIGINT, SIGQUIT}) ::sigaction(number, &action, nullptr);
  action.sa_handler = pass_on;
  for (const int number : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::sigaction(number, &action, nullptr);
}

}  // namespace

SimBoard::SimBoard(std::uint32_t trace_events) : fd_(::memfd_create("marrow-sim-board", MFD_CLOEXEC)) {
  const std::uint64_t bytes = cx7::Board::bytes_with(trace_events);
  void* at = MAP_FAILED;
  if (fd_ && ::ftruncate(fd_.get(), static_cast<off_t>(bytes)) == 0) {  // sparse: what nobody writes takes no memory
    at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_.get(), 0);
  }
  if (at == MAP_FAILED) throw util::system_error("memory for what the command's processes count", errno);
  board_ = new (at) cx7::Board;
  board_->bytes = bytes;
  board_->trace_events = trace_events;
  for (std::size_t k = 0; k < board_->device.size(); ++k) {
    fmt::format_to_n(board_->device[k].data(), board_->device[k].size() - 1, "mlx5_sim{}", k);
  }
  ::setenv("MARROW_SIM_BOARD", fmt::format("/proc/{}/fd/{}", ::getpid(), fd_.get()).c_str(), 1);
}

SimBoard::~SimBoard() {
  ::munmap(board_, cx7::Board::bytes_with(board_->trace_events));
}

std::vector<const cx7::BoardProcess*> SimBoard::processes() const {
  std::vector<const cx7::BoardProcess*> found;
  for (const auto& process : board_->process) {
    if (process.pid.load(std::memory_order_acquire) != 0) found.push_back(&process);
  }
  return found;
}

std::size_t SimBoard::left_out() const {
  const std::size_t came = board_->processes.load();
  return came - std::min(came, cx7::Board::kMostProcesses);
}

std::vector<cx7::TraceEvent> SimBoard::events(const cx7::BoardProcess& process) const {
  const std::uint64_t count = process.trace.count.load(std::memory_order_acquire);
  const std::uint64_t kept = std::min<std::uint64_t>(count, board_->trace_events);
  const auto* const from = board_->events_of(static_cast<std::size_t>(&process - board_->process.data()));
  std::vector<cx7::TraceEvent> list;
  for (std::uint64_t at = count - kept; at != count; ++at) list.push_back(from[at % board_->trace_events]);
  return list;
}

int run_to_its_end(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  if (const int error = ::posix_spawnp(&pid, words[0], nullptr, nullptr, words.data(), environ); error != 0) {
    throw std::system_error(error, std::generic_category());
  }
  child.store(pid);
  outlive_the_command();
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  child.store(0);
  return status;
}

int end_like(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return WEXITSTATUS(wait_status);
  const int number = WTERMSIG(wait_status);
  constexpr rlimit kNoSecondCore{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &kNoSecondCore);
  ::signal(number, SIG_DFL);
  ::raise(number);
  return 128 + number;  // of a signal that ends nobody
}

}  // namespace marrow::cli
