// SPDX-License-Identifier: Apache-2.0
// The board: memory of `marrow sim` in which each process of its command counts and records, so that what a killed one
// did is still there. Made by the tool as a memfd, mapped by the processes through /proc; nothing of it has a name in a
// file system. The tool only reads what processes of the same user write, and takes no number of it for a size without
// a look.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cx7/hca/counters.h"
#include "cx7/hca/trace.h"

namespace marrow::cx7 {

/// What was refused or found, once by name, with its sentence as logged first. Both end with a zero.
struct BoardNote {
  std::array<char, 32> name{};
  std::array<char, 224> text{};
};

struct BoardProcess {
  static constexpr std::size_t kMostNotes = 32;

  std::atomic<std::uint32_t> pid{0};  // 0: nobody; set when the rest may be read
  std::array<char, 16> command{};     // its first 15 letters, as the kernel keeps it
  ProcessCounts counts{};
  std::atomic<std::uint32_t> notes{0};  // as many of note[] are complete
  std::array<BoardNote, kMostNotes> note{};
  TraceRing trace{};  // its events lie behind the board
};

struct Board {
  static constexpr std::uint64_t kMagic = 0x6d61'7272'6f77'0001;  // "marrow", version
  static constexpr std::size_t kMostProcesses = 256;

  std::uint64_t magic = kMagic;
  std::uint64_t bytes = 0;                     // of all, with the events
  std::uint32_t trace_events = 0;              // of each process, a power of two; 0: nothing is recorded
  std::atomic<std::uint32_t> processes{0};     // that came, those that found no place among them
  std::array<std::array<char, 16>, 2> device;  // names
  std::array<BoardProcess, kMostProcesses> process;

  [[nodiscard]] TraceEvent* events_of(std::size_t index) {
    return reinterpret_cast<TraceEvent*>(reinterpret_cast<std::byte*>(this) + sizeof(Board)) + index * trace_events;
  }
  static constexpr std::uint64_t bytes_with(std::uint32_t trace_events) {
    return sizeof(Board) + kMostProcesses * std::uint64_t{trace_events} * sizeof(TraceEvent);
  }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "the words are shared between processes");
static_assert(sizeof(Board) % alignof(TraceEvent) == 0);

/// The place of this process on the board at `path`, or null, with a line in the log, where there is none. For a
/// process that has just got its engine; a forked child takes another.
[[nodiscard]] BoardProcess* take_place(const char* path, TraceEvent*& events, std::uint32_t& trace_events);

}  // namespace marrow::cx7
