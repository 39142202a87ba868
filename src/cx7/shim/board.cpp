// SPDX-License-Identifier: Apache-2.0
// See board.h.
#include "cx7/shim/board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>

#include "util/error.h"
#include "util/fd.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

std::atomic<BoardProcess*> own_place{nullptr};  // of this process, or of the one that forked it

template <std::size_t Size>
void copy_text(std::array<char, Size>& to, std::string_view from) {
  const auto n = std::min(from.size(), Size - 1);
  std::copy_n(from.data(), n, to.data());
  to[n] = '\0';
}

void note(std::string_view name, std::string_view text) {
  static std::mutex one_at_a_time;
  BoardProcess* const place = own_place.load(std::memory_order_acquire);
  if (place == nullptr || place->pid.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(::getpid())) return;
  const std::lock_guard lock(one_at_a_time);
  const std::uint32_t at = place->notes.load(std::memory_order_relaxed);
  if (at >= BoardProcess::kMostNotes) return;
  copy_text(place->note[at].name, name);
  copy_text(place->note[at].text, text);
  place->notes.store(at + 1, std::memory_order_release);
}

Board* map_board(const char* path) {
  const util::UniqueFd fd(::open(path, O_RDWR | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || static_cast<std::uint64_t>(status.st_size) < sizeof(Board))
    return nullptr;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return nullptr;
  ::madvise(at, bytes, MADV_DONTDUMP);
  auto* const board = static_cast<Board*>(at);
  const bool sound =
      board->magic == Board::kMagic && board->bytes == bytes && Board::bytes_with(board->trace_events) == bytes;
  if (sound) return board;
  ::munmap(at, bytes);
  return nullptr;
}

}  // namespace

BoardProcess* take_place(const char* path, TraceEvent*& events, std::uint32_t& trace_events) {
  Board* const board = map_board(path);
  if (board == nullptr) {
    util::log::warn("what this process does is not in the statistics of marrow sim: no board at {}", path);
    return nullptr;
  }
  const std::uint32_t index = board->processes.fetch_add(1);
  if (index >= Board::kMostProcesses) {
    util::log::warn("what this process does is not in the statistics of marrow sim: it is the {}th process", index + 1);
    return nullptr;
  }
  BoardProcess& place = board->process[index];
  std::array<char, 16> command{};
  ::prctl(PR_GET_NAME, command.data());
  place.command = command;
  events = board->events_of(index);
  trace_events = board->trace_events;
  place.pid.store(static_cast<std::uint32_t>(::getpid()), std::memory_order_release);
  own_place.store(&place, std::memory_order_release);
  util::log::on_first(note);
  return &place;
}

}  // namespace marrow::cx7
