// SPDX-License-Identifier: Apache-2.0
// Every load, store and atomic of a hand-off, and what orders them; no other file of the proxy's device half orders
// anything or asks which compiler it has. tests/proxy pins the PTX.
// Facts: a 16-byte store of one thread is one access in the PTX model only as .b128 [prm: PTX ISA]; over PCIe it is one
// posted write [obs: nothing else was ever seen].
//
// Host lanes show behaviour and exact counts, never a GPU's costs. They store a descriptor as two words, the marked
// first one last.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "marrow/proxy/descriptor.h"
#include "marrow/proxy/ring.h"

namespace marrow::proxy {

/// The index that the worker has advanced: only a branch follows, so the load itself need not order anything on a GPU.
[[nodiscard]] MARROW_HD inline std::uint64_t load_freed(const std::uint64_t* at) {
#if defined(__CUDA_ARCH__)
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.global.b64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return value;
#else
  return std::atomic_ref(*const_cast<std::uint64_t*>(at)).load(std::memory_order_acquire);
#endif
}

/// What a producer of the same ring has read of it, kept in the lane's memory: any value that it ever had will do.
[[nodiscard]] MARROW_HD inline std::uint64_t load_kept(const std::uint64_t* at) {
#if defined(__CUDA_ARCH__)
  std::uint64_t value;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return value;
#else
  return std::atomic_ref(*const_cast<std::uint64_t*>(at)).load(std::memory_order_acquire);
#endif
}
MARROW_HD inline void store_kept(std::uint64_t* at, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "l"(value) : "memory");
#else
  std::atomic_ref(*at).store(value, std::memory_order_release);
#endif
}

/// The completion word: what it allows must not be read before it.
[[nodiscard]] MARROW_HD inline std::uint64_t load_done(const std::uint64_t* at) {
#if defined(__CUDA_ARCH__)
  std::uint64_t value;
  asm volatile("ld.acquire.sys.global.b64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return value;
#else
  return std::atomic_ref(*const_cast<std::uint64_t*>(at)).load(std::memory_order_acquire);
#endif
}

/// The next index of a ring with several producers.
template <Reserve R>
[[nodiscard]] MARROW_HD inline std::uint64_t fetch_next(std::uint64_t* head) {
  static_assert(R != Reserve::kOwnRing);
#if defined(__CUDA_ARCH__)
  std::uint64_t index;
  const auto at = __cvta_generic_to_global(head);
  if constexpr (R == Reserve::kSystemAtomic)
    asm volatile("atom.relaxed.sys.global.add.u64 %0, [%1], 1;" : "=l"(index) : "l"(at) : "memory");
  else
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], 1;" : "=l"(index) : "l"(at) : "memory");
  return index;
#else
  return std::atomic_ref(*head).fetch_add(1, std::memory_order_relaxed);
#endif
}

/// The caller's payload before the descriptor.
template <PreFence F>
MARROW_HD inline void order_payload() {
#if defined(__CUDA_ARCH__)
  if constexpr (F == PreFence::kGpu) asm volatile("fence.acq_rel.gpu;" ::: "memory");
  if constexpr (F == PreFence::kSystem) asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);  // store_words() releases
#endif
}

/// Sixteen bytes of a descriptor. `last` says that nothing of it follows.
template <HandOffType H, bool Last>
MARROW_HD inline void store_words(std::byte* slot, std::uint64_t low, std::uint64_t high) {
#if defined(__CUDA_ARCH__)
  const auto at = __cvta_generic_to_global(slot);
  if constexpr (H::mark == Mark::kReadyWord || H::publish == Publish::kWriteThrough) {
    if constexpr (H::publish == Publish::kWriteThrough)
      asm volatile("st.global.wt.v2.b64 [%0], {%1, %2};" ::"l"(at), "l"(low), "l"(high) : "memory");
    else
      asm volatile("st.global.v2.b64 [%0], {%1, %2};" ::"l"(at), "l"(low), "l"(high) : "memory");
  } else if constexpr (H::publish == Publish::kVolatile8) {
    asm volatile("st.volatile.global.b64 [%0], %1;" ::"l"(at), "l"(low) : "memory");
    asm volatile("st.volatile.global.b64 [%0+8], %1;" ::"l"(at), "l"(high) : "memory");
  } else if constexpr (H::publish == Publish::kRelease && Last) {
    asm volatile("{\n\t.reg .b128 q;\n\tmov.b128 q, {%1, %2};\n\tst.release.sys.global.b128 [%0], q;\n\t}" ::"l"(at),
                 "l"(low), "l"(high)
                 : "memory");
  } else {
    asm volatile("{\n\t.reg .b128 q;\n\tmov.b128 q, {%1, %2};\n\tst.relaxed.sys.global.b128 [%0], q;\n\t}" ::"l"(at),
                 "l"(low), "l"(high)
                 : "memory");
  }
#else
  auto* words = reinterpret_cast<std::uint64_t*>(slot);
  constexpr bool ordered = orders_payload<H>() || H::mark == Mark::kNonZeroWord;
  constexpr auto order = ordered ? std::memory_order_release : std::memory_order_relaxed;
  std::atomic_ref(words[1]).store(high, order);
  std::atomic_ref(words[0]).store(low, order);
#endif
}

/// Behind a descriptor of Mark::kReadyWord.
MARROW_HD inline void store_ready(std::uint32_t* at, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.sys.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "r"(value) : "memory");
#else
  std::atomic_ref(*at).store(value, std::memory_order_release);
#endif
}

}  // namespace marrow::proxy
