// SPDX-License-Identifier: Apache-2.0
// Stop 4 of 9: every store that the NIC sees, and what stands between them; no other file of mini-gda orders anything.
// Each function picks its instruction from the policy's Recipe (recipe.h); tests/ptx pins what comes out. Indices that
// only lanes see are shared_word.h's.
// Facts: WQE, dbrec, doorbell, in this order [dv: qp.c]; GPU instructions [prm: PTX ISA, memory consistency model];
// sfence around a write-combining doorbell [dv: mmio.h].
//
// GPU lanes. The NIC reads queues in this GPU's memory through its L2, where GPU scope orders; it is no thread of the
// PTX model, so only system scope speaks of it by the book. Every asm clobbers memory, else the compiler moves stores.
// Host lanes show behaviour and exact counts, never a GPU's costs: GPU scope becomes an acq_rel fence, system scope a
// sequentially consistent one, kNone a barrier for the compiler alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "marrow/gda/handles.h"
#include "marrow/gda/recipe.h"

#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
#include <immintrin.h>
#endif

namespace marrow::gda {

/// 16 bytes of a WQE: what one store writes, so that no segment is ever half new.
struct alignas(16) Segment {
  std::uint32_t words[4];
};

template <WqeStore W = WqeStore::kWide>
MARROW_HD inline void store_segment(std::byte* at, const Segment& s) {
#if defined(__CUDA_ARCH__)
#define MARROW_STORE_SEGMENT(instruction)                                                                   \
  asm volatile(instruction " [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(at)), "r"(s.words[0]), \
               "r"(s.words[1]), "r"(s.words[2]), "r"(s.words[3])                                            \
               : "memory")
  if constexpr (W == WqeStore::kWide) MARROW_STORE_SEGMENT("st.global.v4.b32");
  if constexpr (W == WqeStore::kStreaming) MARROW_STORE_SEGMENT("st.global.cs.v4.b32");
  if constexpr (W == WqeStore::kRelaxedWide) MARROW_STORE_SEGMENT("st.relaxed.gpu.global.L1::no_allocate.v4.b32");
#undef MARROW_STORE_SEGMENT
  if constexpr (W == WqeStore::kRelaxedWord) {
    for (int k = 0; k < 4; ++k) {
      asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(at + 4 * k)), "r"(s.words[k])
                   : "memory");
    }
  }
#else
  std::memcpy(at, &s, sizeof s);
#endif
}

/// One 4-byte load of memory that the NIC or another kernel writes, at the scope at which the policy polls.
template <Recipe R>
[[nodiscard]] MARROW_HD inline std::uint32_t load_word(const std::byte* at) {
#if defined(__CUDA_ARCH__)
  std::uint32_t word;
  const auto from = __cvta_generic_to_global(at);
  if constexpr (R.poll == Scope::kSystem)
    asm volatile("ld.relaxed.sys.global.L1::no_allocate.b32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
  else
    asm volatile("ld.relaxed.gpu.global.L1::no_allocate.b32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
  return word;
#else
  auto* word = reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(at));
  return std::atomic_ref(*word).load(orders_nothing(R) ? std::memory_order_relaxed : std::memory_order_acquire);
#endif
}

/// Bytes 60..63 of a CQE in one load: counter and owner belong together. The NIC makes byte 63 visible last.
template <Recipe R>
[[nodiscard]] MARROW_HD inline std::uint32_t load_cqe_tail(const std::byte* cqe) {
  return load_word<R>(cqe + offsetof(wire::Cqe, wqe_counter));
}

template <FenceKind F>
MARROW_HD inline void emit_fence() {
#if defined(__CUDA_ARCH__)
  if constexpr (F == FenceKind::kGpu) asm volatile("fence.acq_rel.gpu;" ::: "memory");
  if constexpr (F == FenceKind::kGpuSequential) asm volatile("membar.gl;" ::: "memory");  // what __threadfence() is
  if constexpr (F == FenceKind::kSystem) asm volatile("fence.acq_rel.sys;" ::: "memory");
  if constexpr (F == FenceKind::kGpuRelease) asm volatile("fence.release.gpu;" ::: "memory");
  if constexpr (F == FenceKind::kGpuAcquire) asm volatile("fence.acquire.gpu;" ::: "memory");
  if constexpr (F == FenceKind::kBlock) asm volatile("fence.acq_rel.cta;" ::: "memory");
  if constexpr (F == FenceKind::kNone) asm volatile("" ::: "memory");
#else
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"  // TSan sees the release of dbrec and doorbell stores instead of the fences
#endif
  if constexpr (F == FenceKind::kNone)
    std::atomic_signal_fence(std::memory_order_seq_cst);
  else if constexpr (F != FenceKind::kSystem)
    std::atomic_thread_fence(std::memory_order_acq_rel);
  if constexpr (F == FenceKind::kSystem) std::atomic_thread_fence(std::memory_order_seq_cst);
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
}

/// The WQEs of this lane, and what it synchronised with, before the dbrec: needed only by a NIC that fetches by dbrec
/// without a doorbell, as it does on its error path.
template <Recipe R>
MARROW_HD inline void order_wqe_before_dbrec() {
  emit_fence<R.before_dbrec>();
}

/// Announces `pi` in memory: the NIC reads this word when it lost a doorbell, and to know what to flush after an error.
template <Recipe R>
MARROW_HD inline void store_dbrec(wire::be32* send, std::uint64_t pi) {
  const std::uint32_t raw = wire::dbrec_value(pi).raw;
#if defined(__CUDA_ARCH__)
  constexpr StoreKind kind = R.dbrec;
  const auto at = __cvta_generic_to_global(send);
  if constexpr (kind == StoreKind::kPlain) asm volatile("st.global.b32 [%0], %1;" ::"l"(at), "r"(raw) : "memory");
  if constexpr (kind == StoreKind::kVolatile)
    asm volatile("st.volatile.global.b32 [%0], %1;" ::"l"(at), "r"(raw) : "memory");
  if constexpr (kind == StoreKind::kRelaxedSystem)
    asm volatile("st.relaxed.sys.global.b32 [%0], %1;" ::"l"(at), "r"(raw) : "memory");
  if constexpr (kind == StoreKind::kReleaseGpu)
    asm volatile("st.release.gpu.global.L1::no_allocate.b32 [%0], %1;" ::"l"(at), "r"(raw) : "memory");
  if constexpr (kind == StoreKind::kReleaseSystem)
    asm volatile("st.release.sys.global.b32 [%0], %1;" ::"l"(at), "r"(raw) : "memory");
  if constexpr (kind == StoreKind::kSequentialSystem)
    asm volatile("fence.sc.sys; st.relaxed.sys.global.b32 [%0], %1;" ::"l"(at), "r"(raw) : "memory");
#else
  std::atomic_ref(send->raw).store(raw, orders_nothing(R) ? std::memory_order_relaxed : std::memory_order_release);
#endif
}

/// WQEs and dbrec before the doorbell: after it the NIC may read either at once.
template <Recipe R>
MARROW_HD inline void order_dbrec_before_doorbell([[maybe_unused]] DoorbellMapping mapping) {
  emit_fence<R.before_doorbell>();
#if !defined(__CUDA_ARCH__)
  if constexpr (R.doorbell == StoreKind::kReleaseSystem) emit_fence<FenceKind::kSystem>();
#if defined(__x86_64__)  // a write-combined store may pass earlier stores to ordinary memory
  if (!orders_nothing(R) && mapping == DoorbellMapping::kWriteCombining) _mm_sfence();
#elif defined(__aarch64__)
  if (!orders_nothing(R) && mapping != DoorbellMapping::kOrdinaryMemory) asm volatile("dsb st" ::: "memory");
#endif
#endif
}

/// "Everything before `pi` is posted": ONE 64-bit store, which two ringers cannot tear. A seq_cst store would be a
/// locked read-modify-write on x86, and the register must never be read: hence at most release on the host.
template <Recipe R>
MARROW_HD inline void ring_doorbell(const Qp& qp, std::uint64_t pi) {
  const std::uint64_t word = wire::doorbell_word(qp.qpn, pi);
#if defined(__CUDA_ARCH__)
  constexpr StoreKind kind = R.doorbell;
  const auto at = __cvta_generic_to_global(const_cast<std::uint64_t*>(qp.doorbell));
  if constexpr (kind == StoreKind::kMmio)
    asm volatile("st.mmio.relaxed.sys.global.b64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
  if constexpr (kind == StoreKind::kVolatile)
    asm volatile("st.volatile.global.b64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
  if constexpr (kind == StoreKind::kReleaseGpu)
    asm volatile("st.release.gpu.global.L1::no_allocate.b64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
  if constexpr (kind == StoreKind::kReleaseSystem)
    asm volatile("st.release.sys.global.b64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
  if constexpr (kind == StoreKind::kRelaxedSystem || kind == StoreKind::kPlain)
    asm volatile("st.relaxed.sys.global.b64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
  if constexpr (kind == StoreKind::kSequentialSystem)
    asm volatile("fence.sc.sys; st.relaxed.sys.global.b64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
#else
  auto& doorbell = *const_cast<std::uint64_t*>(qp.doorbell);
  std::atomic_ref(doorbell).store(word, orders_nothing(R) ? std::memory_order_relaxed : std::memory_order_release);
#if defined(__x86_64__)  // else the store may sit in a write-combining buffer until something evicts it
  if (qp.doorbell_mapping == DoorbellMapping::kWriteCombining) _mm_sfence();
#endif
#endif
}

/// In place of record and doorbell: the index for the host thread that will store both (HostRinger). One poster stores;
/// of several the highest stays. The host's own fence stands between this word and the NIC.
template <Recipe R, bool OnePoster>
MARROW_HD inline void forward_doorbell(const Qp& qp, std::uint64_t pi) {
  auto* word = const_cast<std::uint64_t*>(qp.doorbell);
#if defined(__CUDA_ARCH__)
  const auto at = __cvta_generic_to_global(word);
  constexpr bool release = is_release(R.doorbell);
  if constexpr (OnePoster && release) asm volatile("st.release.sys.global.b64 [%0], %1;" ::"l"(at), "l"(pi) : "memory");
  if constexpr (OnePoster && !release)
    asm volatile("st.relaxed.sys.global.b64 [%0], %1;" ::"l"(at), "l"(pi) : "memory");
  if constexpr (!OnePoster && release)
    asm volatile("red.release.sys.global.max.u64 [%0], %1;" ::"l"(at), "l"(pi) : "memory");
  if constexpr (!OnePoster && !release)
    asm volatile("red.relaxed.sys.global.max.u64 [%0], %1;" ::"l"(at), "l"(pi) : "memory");
#else
  std::atomic_ref shared(*word);
  auto seen = shared.load(std::memory_order_relaxed);
  while (seen < pi && !shared.compare_exchange_weak(seen, pi, std::memory_order_release, std::memory_order_relaxed)) {
  }
#endif
}

/// "CQEs before `cqes` are consumed", where the CQ minds its overrun. Behind the loads of the CQE that it gives back.
MARROW_HD inline void store_cq_consumer(wire::be32* consumer, std::uint64_t cqes) {
  const std::uint32_t raw = wire::be32(static_cast<std::uint32_t>(cqes & 0xffffff)).raw;
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(consumer)), "r"(raw) : "memory");
#else
  std::atomic_ref(consumer->raw).store(raw, std::memory_order_release);
#endif
}

/// "Receives before `posted` may be taken." Their WQEs were there before any lane was.
MARROW_HD inline void store_receive_dbrec(wire::be32* receive, std::uint64_t posted) {
  const std::uint32_t raw = wire::dbrec_value(posted).raw;
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(receive)), "r"(raw) : "memory");
#else
  std::atomic_ref(receive->raw).store(raw, std::memory_order_release);
#endif
}

/// The CQE before what it allows: reading its other words and what a READ or atomic brought, reusing the WQEBB.
template <Recipe R>
MARROW_HD inline void order_cqe_before_payload() {
#if defined(__CUDA_ARCH__)
  constexpr FenceKind kinds[] = {FenceKind::kNone, FenceKind::kGpu, FenceKind::kSystem, FenceKind::kBlock};
  emit_fence<kinds[static_cast<std::uint8_t>(R.poll)]>();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);  // load_word() has acquired
#endif
}

}  // namespace marrow::gda
