// SPDX-License-Identifier: Apache-2.0
// The GPU's copy of what other processes own: for each that a queue pair leads to, a table of the same form as this
// process's own. The words are the owner's (cx7/hca/neighbours.h); the addresses are where its memory is mapped here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cx7/cuda/peer_memory.h"
#include "cx7/cuda/tables.h"
#include "cx7/hca/far_news.h"

namespace marrow::cx7::cuda {

class Shifts;
class TableMemory;

/// The engine's GPU is current at every call; all throw util::Error.
class FarSides {
 public:
  /// `warn` gets one sentence for each allocation that cannot be opened.
  FarSides(TableMemory& memory, const Shifts& shifts, void (*warn)(const char*))
      : memory_(memory), shifts_(shifts), warn_(warn) {}

  /// Lasts as long as this object. Empty until the process at the other end has told of itself.
  [[nodiscard]] const Side* side_of(unsigned slot, std::uint8_t device) { return &there(slot)[device % kDevices]; }
  /// Returns when no GPU thread acts on what was before, and what is gone is unmapped.
  void hear(const FarNews& news);
  /// Why the last key that no GPU reaches is none; empty when there was none.
  [[nodiscard]] const std::string& unreachable() const { return unreachable_; }

 private:
  struct Process {
    Side* sides = nullptr;                                                      // kDevices of them, on the GPU
    std::unordered_map<std::uint64_t, std::optional<PeerMemory::Handle>> keys;  // with the mapping that each uses
    std::unordered_map<std::uint64_t, bool> qps;                                // those with an entry
  };

  Side* there(unsigned slot);
  void forget_key(Process& process, std::uint64_t id);
  void forget_all(Process& process);
  void let_go();
  [[nodiscard]] KeyEntry reach(unsigned slot, const FarKey& key, Process& process);
  void call_unreachable(unsigned slot, const FarKey& key, const std::string& why);

  TableMemory& memory_;
  const Shifts& shifts_;
  void (*warn_)(const char*);
  PeerMemory mappings_;
  std::unordered_map<unsigned, Process> processes_;
  std::vector<PeerMemory::Handle> leaving_;  // no key names them; GPU threads may still know
  bool dirty_ = false;                       // something was taken away, and not every warp knows
  std::string unreachable_;
};

}  // namespace marrow::cx7::cuda
