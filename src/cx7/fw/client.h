// SPDX-License-Identifier: Apache-2.0
// Whose command it is. Firmware knows a context by its uid and refuses the numbers of another one's objects; here the
// context's own objects are listed, and what is not listed does not exist for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "cx7/hca/engine.h"

namespace marrow::cx7::fw {

/// Application memory registered for queues and dbrecs.
struct Umem {
  std::uint32_t id = 0;
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t users = 0;  // queues built on it: it cannot go before them
};

/// What a CQ or QP occupies besides the device's own object.
struct QueueMemory {
  std::uint32_t ring_umem = 0;  // 0: none; the queue came through verbs
  std::uint32_t dbrec_umem = 0;
};

/// One opened device. The engine's lock is held whenever it is touched.
struct Client {
  Client(Engine& the_engine, Device& the_device) : engine(the_engine), device(the_device) {}

  Engine& engine;
  Device& device;
  std::unordered_set<std::uint32_t> pds;
  std::unordered_set<std::uint32_t> uars;
  std::unordered_map<std::uint32_t, QueueMemory> cqs;
  std::unordered_map<std::uint32_t, QueueMemory> qps;
  std::unordered_map<std::uint32_t, Umem> umems;
  std::unordered_set<std::uint32_t> srqs;
  std::unordered_set<std::uint32_t> dcts;
  std::unordered_map<std::uint32_t, QueueMemory> rmps;   // among the SRQs: those that CREATE_RMP made
  std::unordered_map<std::uint32_t, QueueMemory> mkeys;  // by index: those that CREATE_MKEY made

  [[nodiscard]] Cq* find_cq(std::uint32_t cqn) const { return cqs.contains(cqn) ? device.cqs.find(cqn) : nullptr; }
  [[nodiscard]] Qp* find_qp(std::uint32_t qpn) const { return qps.contains(qpn) ? device.qps.find(qpn) : nullptr; }
  [[nodiscard]] Umem* find_umem(std::uint32_t id) {
    const auto at = umems.find(id);
    return at == umems.end() ? nullptr : &at->second;
  }
  /// Counts both umems of a queue up or down.
  void use(const QueueMemory& memory, int by) {
    for (const auto id : {memory.ring_umem, memory.dbrec_umem}) {
      if (Umem* const umem = find_umem(id)) umem->users += static_cast<std::uint32_t>(by);
    }
  }
};

}  // namespace marrow::cx7::fw
