// SPDX-License-Identifier: Apache-2.0
// See lookout.h.
#include "experiments/ordering_litmus/lookout.h"

#include <algorithm>
#include <array>

#include "marrow/wire/doorbell.h"
#include "marrow/wire/wqe.h"

namespace marrow::experiments {
namespace {

constexpr std::uint32_t kMostOfALook = 64;

std::int32_t distance16(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(a - b));
}

}  // namespace

Lookout::Lookout(const gda::Qp& queue) : queue_(queue), thread_([this] { watch(); }) {}

Lookout::~Lookout() {
  (void)stop();
}

Sightings Lookout::stop() {
  stopping_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
  return seen_;
}

void Lookout::watch() {
  const std::atomic_ref<std::uint64_t> doorbell(*const_cast<std::uint64_t*>(queue_.doorbell));
  std::uint64_t last = 0;
  while (!stopping_.load(std::memory_order_relaxed)) {
    const auto word = doorbell.load(std::memory_order_acquire);
    if (word == last || word == 0) continue;  // the NIC stores 0 when it takes a value
    last = word;
    const auto rung = wire::Doorbell::from_word(word);
    if (rung.qpn == queue_.qpn) look(rung.end());
  }
}

/// The youngest WQE first, and all are loaded before any is judged: bytes that are late are late by tens of
/// nanoseconds. A place may hold a younger WQE by now, but not an older one.
void Lookout::look(std::uint16_t end) {
  const auto news = knows_end_ ? distance16(end, end_) : 1;
  knows_end_ = true;
  if (news <= 0) return;
  end_ = end;
  const auto n = std::min({static_cast<std::uint32_t>(news), queue_.sq_wqebbs, kMostOfALook});
  std::array<std::uint32_t, kMostOfALook> words;
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto place = (end - 1U - i) & queue_.sq_mask();
    auto* const opcode_index = reinterpret_cast<std::uint32_t*>(queue_.sq + std::size_t{place} * wire::kWqebbBytes);
    words[i] = std::atomic_ref(*opcode_index).load(std::memory_order_relaxed);
  }
  seen_.looked_at += n;
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto index = wire::swap_bytes(words[i]) >> 8 & 0xffff;
    seen_.stale += distance16(index, end - 1U - i) < 0 ? 1 : 0;
  }
}

}  // namespace marrow::experiments
