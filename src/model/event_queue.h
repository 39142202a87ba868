// SPDX-License-Identifier: Apache-2.0
// What will happen, in the order of time. Of what happens at one time, what was scheduled first comes first, so that a
// run does not depend on how the heap lies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace marrow::model {

using Picoseconds = std::int64_t;

enum class EventKind : std::uint8_t { kDoorbell, kUnitDone, kSent, kArrival, kCompletion };

struct Event {
  Picoseconds time = 0;
  std::uint64_t number = 0;   // of all events that were ever scheduled
  std::uint32_t subject = 0;  // warp, NIC or connection
  EventKind kind{};
};

class EventQueue {
 public:
  explicit EventQueue(std::size_t expected) { heap_.reserve(expected); }

  void add(Picoseconds time, EventKind kind, std::uint32_t subject) {
    heap_.push_back({time, count_++, subject, kind});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  /// The queue is not empty.
  Event take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const auto next = heap_.back();
    heap_.pop_back();
    return next;
  }
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }

 private:
  static bool later(const Event& a, const Event& b) noexcept {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }

  std::vector<Event> heap_;
  std::uint64_t count_ = 0;
};

}  // namespace marrow::model
