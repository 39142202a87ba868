// SPDX-License-Identifier: Apache-2.0
// A small machine under the proxy's own code: producers and consumers run on it one memory access at a time, and every
// order of their accesses is tried. A store waits in its thread's buffer and becomes visible when the machine likes:
// relaxed ones in any order, a release one behind all that the thread stored before it, two to one place in order.
// Loads are done in program order, which acquire loads and the branches behind them guarantee.
//
// An operation (a put, a take) is run from its start again for each access, with what it has loaded so far given back;
// the access after that ends it by an exception. So its state is a few bytes, and equal states are met once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace marrow::proxy::model {

inline constexpr std::size_t kCells = 40;
inline constexpr std::size_t kThreads = 3;
inline constexpr std::size_t kLog = 16;
inline constexpr std::size_t kBuffer = 24;
inline constexpr std::size_t kObject = 128;

struct Store {
  std::uint64_t value;
  std::uint32_t cell;
  std::uint32_t release;
};

/// Where a thread stands.
struct Mood {
  std::uint32_t logged, buffered;  // entries of the two arrays below
  std::uint32_t done, pending;     // operations; their meaning is the thread's own
  std::uint32_t finished;
  std::uint32_t blocked;  // the last operation brought nothing, and nothing has changed since it began
  std::uint32_t changed;  // something has become visible since the operation began
  std::uint32_t seen;     // of a producer: its descriptors that the consumer has got
};

/// Everything that a thread is, between two accesses.
struct Thread {
  std::array<std::byte, kObject> object;  // its Producer or Consumer, as the operation found it
  std::array<std::uint64_t, kLog> log;    // what the operation's accesses have returned
  std::array<Store, kBuffer> buffer;      // oldest first
  Mood mood;
};

/// The whole machine, in plain bytes.
struct State {
  std::array<std::uint64_t, kCells> cells;
  std::array<Thread, kThreads> threads;
};
static_assert(std::is_trivially_copyable_v<State>);

/// Ends an operation at its next access.
struct NotYet {};

/// The one machine of this program.
class Machine {
 public:
  State state{};
  bool release_orders = true;  // false: release stores are as weak as relaxed ones

  /// Runs `operation` of thread `t` up to the access after its next load. Whether it came to its end.
  template <class Operation>
  bool step(std::size_t t, Operation&& operation) {
    thread_ = &state.threads.at(t);
    cursor_ = 0;
    loaded_ = false;
    if (thread_->mood.logged == 0) thread_->mood.changed = 0;
    try {
      operation();
    } catch (const NotYet&) {
      return false;
    }
    std::fill_n(thread_->log.begin(), thread_->mood.logged, 0);
    thread_->mood.logged = 0;
    return true;
  }

  [[nodiscard]] bool may_commit(const Thread& thread, std::size_t entry) const {
    const auto& store = thread.buffer[entry];
    if (store.release != 0 && release_orders) return entry == 0;
    for (std::size_t i = 0; i < entry; ++i) {
      if (thread.buffer[i].cell == store.cell) return false;
    }
    return true;
  }
  void commit(Thread& thread, std::size_t entry) {
    write(thread.buffer[entry].cell, thread.buffer[entry].value, &thread);
    for (std::size_t i = entry; i + 1 < thread.mood.buffered; ++i) thread.buffer[i] = thread.buffer[i + 1];
    thread.buffer[--thread.mood.buffered] = {};
  }

  std::uint64_t load(const void* at) {
    if (cursor_ < thread_->mood.logged) return thread_->log[cursor_++];
    if (loaded_) throw NotYet{};
    loaded_ = true;
    const auto cell = cell_of(at);
    auto value = state.cells[cell];
    for (std::size_t i = 0; i < thread_->mood.buffered; ++i) {
      if (thread_->buffer[i].cell == cell) value = thread_->buffer[i].value;
    }
    return append(value);
  }
  void store(const void* at, std::uint64_t value, std::memory_order order) {
    if (cursor_ < thread_->mood.logged) return void(++cursor_);
    if (thread_->mood.buffered == kBuffer) throw std::length_error("a thread has too many stores under way");
    thread_->buffer[thread_->mood.buffered++] = {value, cell_of(at), order == std::memory_order_relaxed ? 0u : 1u};
    append(0);
  }
  std::uint64_t fetch_add(const void* at, std::uint64_t by) {
    if (cursor_ < thread_->mood.logged) return thread_->log[cursor_++];
    if (loaded_) throw NotYet{};
    loaded_ = true;
    const auto cell = cell_of(at);
    const auto before = state.cells[cell];
    write(cell, before + by, thread_);
    return append(before);
  }

  void forget_cells() { cells_ = 0; }
  [[nodiscard]] std::uint32_t cell_of(const void* at) {
    for (std::uint32_t i = 0; i < cells_; ++i) {
      if (addresses_[i] == at) return i;
    }
    if (cells_ == kCells) throw std::length_error("more places in memory than there are cells");
    addresses_[cells_] = at;
    return cells_++;
  }

 private:
  std::uint64_t append(std::uint64_t value) {
    if (thread_->mood.logged == kLog) throw std::length_error("an operation has too many accesses");
    thread_->log[thread_->mood.logged++] = value;
    ++cursor_;
    return value;
  }
  void write(std::uint32_t cell, std::uint64_t value, const Thread* writer) {
    if (state.cells[cell] == value) return;  // nobody can tell
    state.cells[cell] = value;
    for (auto& thread : state.threads) {
      if (&thread == writer) continue;
      thread.mood.changed = 1;
      thread.mood.blocked = 0;
    }
  }

  Thread* thread_ = nullptr;
  std::uint32_t cursor_ = 0;
  bool loaded_ = false;
  std::array<const void*, kCells> addresses_{};
  std::uint32_t cells_ = 0;
};

inline Machine machine;

}  // namespace marrow::proxy::model

// What the proxy's headers are given instead of std::atomic_ref, see on_the_machine.h.
namespace std {  // NOLINT(cert-dcl58-cpp)

template <class T>
class model_atomic_ref {
 public:
  explicit model_atomic_ref(T& at) : at_(&at) {}
  T load(std::memory_order) const { return static_cast<T>(marrow::proxy::model::machine.load(at_)); }
  void store(T value, std::memory_order order) const { marrow::proxy::model::machine.store(at_, value, order); }
  T fetch_add(T by, std::memory_order) const {
    return static_cast<T>(marrow::proxy::model::machine.fetch_add(at_, by));
  }

 private:
  T* at_;
};

}  // namespace std
