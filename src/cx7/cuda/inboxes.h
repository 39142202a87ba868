// SPDX-License-Identifier: Apache-2.0
// The receive sides of the queue pairs that GPU threads serve, kept in the tables: one inbox a seat, and the producer
// index of each receive CQ, which inboxes may share and which outlives them in the CQ itself.
#pragma once

#include <bitset>
#include <cstdint>
#include <unordered_map>

#include "cx7/cuda/seats.h"
#include "cx7/cuda/tables.h"
#include "cx7/hca/objects.h"

namespace marrow::cx7::cuda {

class TableMemory;

class Inboxes {
 public:
  explicit Inboxes(TableMemory& memory) : memory_(memory) {}

  /// `id` names the CQ among all. Number 0 is none in the other calls. \returns what PeerEntry::inbox says, or 0 when
  /// the tables are full.
  std::uint32_t open(const Seat& seat, Inbox entry, std::uint64_t id, Cq& cq);
  /// As in a queue pair that was reset: no receive is taken.
  void reset(std::uint32_t number);
  void set_pause(std::uint32_t number, std::uint32_t us);
  void close(std::uint32_t number);

  /// Whether this CQ's entries are numbered here.
  [[nodiscard]] bool number_entries_of(std::uint64_t id) const { return kept_.contains(id); }

 private:
  static constexpr std::uint32_t kCqs = kWarps * kLanes;
  struct KeptCq {
    std::uint32_t index = 0;
    std::uint32_t users = 0;
    Cq* cq = nullptr;
  };
  TableMemory& memory_;
  std::unordered_map<std::uint64_t, KeptCq> kept_;
  std::unordered_map<std::uint32_t, std::uint64_t> cq_of_;  // by inbox
  std::bitset<kCqs> taken_;
};

}  // namespace marrow::cx7::cuda
