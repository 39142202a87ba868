// SPDX-License-Identifier: Apache-2.0
// See far_sides.h.
#include "cx7/cuda/far_sides.h"

#include <fmt/format.h>

#include <utility>

#include "cx7/cuda/cuda_call.cuh"
#include "cx7/cuda/shifts.cuh"
#include "cx7/cuda/table_memory.cuh"
#include "util/error.h"

namespace marrow::cx7::cuda {
namespace {

std::uint64_t id_of(std::uint8_t device, std::uint32_t number) {
  return std::uint64_t{device} << 32 | number;
}
std::uint32_t device_of(std::uint64_t id) {
  return static_cast<std::uint32_t>(id >> 32) % kDevices;
}

PeerEntry entry_of(const FarQp& qp) {
  return {.qpn = qp.qpn,
          .remote_qpn = qp.remote_qpn,
          .pdn = qp.pdn,
          .access = qp.access,
          .receives = static_cast<std::uint8_t>(qp.receives ? 1 : 0),
          .remote_device = qp.remote_device};
}

}  // namespace

Side* FarSides::there(unsigned slot) {
  Process& process = processes_[slot];
  if (process.sides != nullptr) return process.sides;
  Side* made = nullptr;
  require(cudaMalloc(reinterpret_cast<void**>(&made), kDevices * sizeof(Side)), "memory for another process's tables");
  memory_.clear(made, kDevices * sizeof(Side));
  shifts_.await_later_shift();
  return process.sides = made;
}

void FarSides::forget_key(Process& process, std::uint64_t id) {
  const auto known = process.keys.find(id);
  if (known == process.keys.end()) return;
  const auto number = static_cast<std::uint32_t>(id);
  memory_.write(process.sides[device_of(id)].keys[number >> 8 & 0xffff], KeyEntry{});
  if (known->second) leaving_.push_back(*known->second);
  dirty_ = true;
  process.keys.erase(known);
}

void FarSides::forget_all(Process& process) {
  for (const auto& [id, unused] : process.qps) {
    memory_.write(process.sides[device_of(id)].peers[id & 0xffff], PeerEntry{});
    dirty_ = true;
  }
  process.qps.clear();
  while (!process.keys.empty()) forget_key(process, process.keys.begin()->first);
}

/// Waits until no warp knows what is gone; then its memory may be unmapped.
void FarSides::let_go() {
  if (!dirty_ && leaving_.empty()) return;
  memory_.publish(shifts_);
  dirty_ = false;
  for (const auto& handle : std::exchange(leaving_, {})) mappings_.close(handle);
}

void FarSides::call_unreachable(unsigned slot, const FarKey& key, const std::string& why) {
  unreachable_ = fmt::format("key {:#x} of the process in slot {}: {}", key.key, slot, why);
}

KeyEntry FarSides::reach(unsigned slot, const FarKey& key, Process& process) {
  KeyEntry entry{.iova = key.iova, .bytes = key.bytes, .key = key.key, .pdn = key.pdn, .access = key.access};
  auto& handle = process.keys[id_of(key.device, key.key)];
  if (key.where.how == SharedRange::How::kHostMemory) {
    call_unreachable(slot, key,
                     "it lies in that process's host memory, which GPU threads of another process do not reach; "
                     "register memory of cudaMalloc there, or put this queue pair's queues in host memory");
  } else if (key.where.how == SharedRange::How::kNotShareable) {
    call_unreachable(slot, key, "CUDA makes no handle for its memory; allocate it with cudaMalloc, in one piece");
  } else {
    try {
      entry.at = mappings_.open(key.where, key.bytes);
      handle = key.where.handle;
    } catch (const util::Error& error) {
      call_unreachable(slot, key,
                       fmt::format("{}; both processes must see that GPU and share an IPC namespace", error.what()));
      if (warn_ != nullptr) warn_(unreachable_.c_str());
    }
  }
  return entry;
}

void FarSides::hear(const FarNews& news) {
  Side* const sides = there(news.slot);
  Process& process = processes_[news.slot];
  if (news.process_gone) forget_all(process);
  for (const auto& gone : news.keys_gone) forget_key(process, id_of(gone.device, gone.key));
  let_go();
  std::vector<KeyEntry> entries;
  entries.reserve(news.keys.size());
  for (const auto& key : news.keys) entries.push_back(reach(news.slot, key, process));
  if (!entries.empty()) shifts_.await_later_shift();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const FarKey& key = news.keys[i];
    memory_.write(sides[key.device % kDevices].keys[key.key >> 8 & 0xffff], entries[i]);
  }
  for (const auto& qp : news.qps) {
    memory_.write(sides[qp.device % kDevices].peers[qp.qpn & 0xffff], entry_of(qp));
    process.qps[id_of(qp.device, qp.qpn)] = true;
  }
  if (!news.keys.empty() || !news.qps.empty()) memory_.publish(shifts_);
}

}  // namespace marrow::cx7::cuda
