// SPDX-License-Identifier: Apache-2.0
// What the device says to an engine made of GPU threads, which serves the queue pairs whose queues lie in GPU memory.
// The objects are the device's own; this engine keeps a copy that the GPU can read, and is told of every change.
// Implemented in cx7/cuda, a shared object of its own that is loaded only into processes that use CUDA.
// All calls with the engine's lock held; each returns once no GPU thread acts on what was before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cx7/hca/counters.h"
#include "cx7/hca/far_news.h"
#include "cx7/hca/qp.h"

namespace marrow::cx7 {

class GpuEngine {
 public:
  virtual ~GpuEngine() = default;

  /// True when all of [at, at + bytes) is memory of a GPU.
  [[nodiscard]] virtual bool is_gpu_memory(const void* at, std::uint64_t bytes) = 0;

  /// Copies from GPU memory to this process's; false when that is not possible. Microseconds: set-up only.
  [[nodiscard]] virtual bool read(void* to, const void* from, std::size_t bytes) = 0;

  /// From now on `qp`'s send queue is served by GPU threads. Empty, or one sentence why that is not possible.
  [[nodiscard]] virtual std::string adopt(const Qp& qp, const Uar& uar) = 0;
  /// State or attributes changed, or a peer that others may address has come. For adopted and for all other QPs.
  virtual void qp_changed(const Qp& qp) = 0;
  virtual void qp_gone(const Qp& qp) = 0;
  /// Brings state and indices of an adopted QP up to date.
  virtual void look_at(Qp& qp) = 0;

  virtual void key_added(std::uint8_t device, const Mkey& key) = 0;
  virtual void key_gone(std::uint8_t device, const Mkey& key) = 0;

  /// How GPU threads of other processes come to a key's memory.
  [[nodiscard]] virtual SharedRange share(const Mkey& key) = 0;
  /// Keys and QPs of another process, to which adopted QPs lead. False when GPU threads may still act on what was
  /// before.
  [[nodiscard]] virtual bool hear(const FarNews& news) = 0;

  /// What GPU threads have counted for this device; the host's own counters are not in it.
  [[nodiscard]] virtual Counters counters(std::uint8_t device) = 0;
};

}  // namespace marrow::cx7
