// SPDX-License-Identifier: Apache-2.0
// A worker that the test drives round by round, over queue pairs that the test completes: nothing depends on time.
#pragma once

#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "proxy/fake_verbs.h"
#include "proxy/hand_offs.h"
#include "proxy/worker.h"

namespace marrow::proxy::testing {

struct OneWorkerShape {
  std::uint32_t rings = 1;
  std::uint32_t connections = 1;
  std::uint32_t depth = 64;
  std::vector<std::uint32_t> firsts = {};  // these rings come first
};

template <HandOffType H = Tuned>
class OneWorker {
 public:
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kSignals = 8;

  explicit OneWorker(const WorkersOptions& chosen = {}, const OneWorkerShape& shape = {})
      : verbs(1, shape.connections), options(chosen) {
    std::iota(reinterpret_cast<unsigned char*>(from.data()), reinterpret_cast<unsigned char*>(from.data()) + kBytes,
              static_cast<unsigned char>(1));
    verbs.add_routes(from, to, signals);
    WorkerTask task{.options = options, .routes = verbs.table};
    for (std::uint32_t i = 0; i < shape.rings; ++i) {
      memories.push_back(std::make_unique<TestRing<H>>(shape.depth));
      const bool first = std::ranges::count(shape.firsts, i) != 0;
      task.rings.push_back({.ring = memories[i]->ring(), .reserved = first ? Reserved::kFirst : Reserved::kNo});
    }
    worker = std::make_unique<Worker<H>>(task);
    for (const auto& memory : memories) lanes.push_back(std::make_unique<Producer<H>>(memory->ring()));
  }

  [[nodiscard]] Producer<H>& lane(std::size_t i = 0) { return *lanes.at(i); }
  [[nodiscard]] FakeQp& qp(std::uint32_t connection = 0) { return verbs.qp(connection); }
  void rounds(int n = 4) {
    for (int i = 0; i < n; ++i) worker->round();
  }
  /// What lanes of ring `i` see.
  [[nodiscard]] Progress progress(std::size_t i = 0) const { return Progress::from_word(*memories.at(i)->ring().done); }
  [[nodiscard]] std::uint64_t freed(std::size_t i = 0) const { return *memories.at(i)->ring().freed; }
  [[nodiscard]] bool arrived(std::uint64_t at, std::uint64_t bytes) const {
    return std::equal(from.begin() + static_cast<long>(at), from.begin() + static_cast<long>(at + bytes),
                      to.begin() + static_cast<long>(at));
  }

  FakeVerbs verbs;
  WorkersOptions options;
  std::vector<std::byte> from = std::vector<std::byte>(kBytes);
  std::vector<std::byte> to = std::vector<std::byte>(kBytes);
  std::vector<std::uint64_t> signals = std::vector<std::uint64_t>(kSignals);
  std::vector<std::unique_ptr<TestRing<H>>> memories;
  std::unique_ptr<Worker<H>> worker;
  std::vector<std::unique_ptr<Producer<H>>> lanes;
};

/// 8 bytes in their own place.
constexpr Put put_at(std::uint64_t place, std::uint32_t route = 0) {
  return {.route = route, .from = place * 8, .to = place * 8, .bytes = 8};
}

}  // namespace marrow::proxy::testing
