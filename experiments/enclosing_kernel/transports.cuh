// SPDX-License-Identifier: Apache-2.0
// The communication code that a caller carries: one 8-byte message, and its completion where the job says so. Device
// code only. A transport's state rests in memory (Residence::kMemory), so that nothing of it is live during useful
// work.
#pragma once

#include "experiments/enclosing_kernel/job.h"
#include "marrow/gda/send_queue.h"
#include "marrow/proxy/producer.h"

namespace marrow::experiments::enclosing {

struct NoTransport {
  static constexpr bool kPresent = false;
};

/// blockIdx.x, read where it is used: else the compiler keeps what it makes of it in registers across the useful work.
__device__ __forceinline__ std::uint32_t this_block() {
  std::uint32_t block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}

/// One queue a block.
struct MiniGda {
  static constexpr bool kPresent = true;

  static __device__ __forceinline__ gda::Status send(const Job& job, std::uint32_t message) {
    gda::SendQueue<gda::Lean<gda::GpuFence>> queue{job.qps[this_block()]};
    const gda::Solo team;
    const auto ticket = queue.post(team, {}, [&](const gda::Slots& slots) {
      queue.write_value(slots[0], job.to + kCellBytes * this_block(), message);
    });
    return job.wait != 0 ? queue.wait(team, ticket).status : ticket.status;
  }
};

/// Rings that blocks share.
struct MiniProxy {
  static constexpr bool kPresent = true;

  static __device__ __forceinline__ gda::Status send(const Job& job, std::uint32_t message) {
    proxy::Producer<proxy::Lean<proxy::SharedRing<proxy::Tuned>>> ring{job.rings[blockIdx.x & job.ring_mask]};
    const auto ticket = ring.put({.from = message, .to = kCellBytes * blockIdx.x, .bytes = kCellBytes});
    return job.wait != 0 ? ring.wait(ticket) : ticket.status;
  }
};

template <class T>
__device__ __forceinline__ void send_and_note(const Job& job, std::uint32_t round) {
  const auto status = T::send(job, job.first_message + round);
  if (status != gda::Status::kOk) job.failures[blockIdx.x] = static_cast<std::uint32_t>(status);
}

/// As a function of its own, as a library's separately compiled code is: the caller's live values survive a call.
template <class T>
__device__ __noinline__ void send_separately(const Job& job, std::uint32_t round) {
  send_and_note<T>(job, round);
}

enum class Packaging : std::uint8_t { kInlined, kSeparate };

/// Before each round of useful work, by one thread of the block. Nobody else of the block waits for it.
template <class T, Packaging P>
__device__ __forceinline__ void maybe_send(const Job& job, std::uint32_t round) {
  if constexpr (T::kPresent) {
    if ((job.sending_rounds >> round & 1) != 0 && threadIdx.x == 0) {
      if constexpr (P == Packaging::kInlined) send_and_note<T>(job, round);
      if constexpr (P == Packaging::kSeparate) send_separately<T>(job, round);
    }
    __syncwarp();  // else the compiler takes the warp for split, and keeps in each lane what is the same in all
  }
}

}  // namespace marrow::experiments::enclosing
