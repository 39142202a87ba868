// SPDX-License-Identifier: Apache-2.0
// The atomics on SharedIndices (handles.h), which only lanes see: the NIC's words are order.h's. Aside of stop 2;
// tests/ptx pins what comes out. On a GPU all are relaxed but store_release(), at the scope of those who share; fences
// stand where publication.h puts them. On a host lane each orders by itself, for TSan sees no fences.
#pragma once

#include <atomic>
#include <cstdint>

#include "marrow/gda/recipe.h"

namespace marrow::gda {

#if defined(__CUDA_ARCH__)
// One function for each instruction and scope: PTX is text, and asm() takes a literal.
#define MARROW_SCOPED(S, statement) \
  if constexpr (S == Scope::kBlock) \
    statement("cta");               \
  else                              \
    statement("gpu")
#endif

template <Scope S>
[[nodiscard]] MARROW_HD inline std::uint64_t load_shared(const std::uint64_t& word) {
#if defined(__CUDA_ARCH__)
  std::uint64_t value;
#define MARROW_LOAD(s)                                 \
  asm volatile("ld.relaxed." s ".global.b64 %0, [%1];" \
               : "=l"(value)                           \
               : "l"(__cvta_generic_to_global(&word))  \
               : "memor"                               \
                 "y")
  MARROW_SCOPED(S, MARROW_LOAD);
#undef MARROW_LOAD
  return value;
#else
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
#endif
}

template <Scope S>
MARROW_HD inline void store_shared(std::uint64_t& word, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
#define MARROW_STORE(s) \
  asm volatile("st.relaxed." s ".global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(&word)), "l"(value) : "memory")
  MARROW_SCOPED(S, MARROW_STORE);
#undef MARROW_STORE
#else
  std::atomic_ref(word).store(value, std::memory_order_release);
#endif
}

/// What this lane did, and saw done, before the word: gives a lock or a turn away.
template <Scope S>
MARROW_HD inline void store_release(std::uint64_t& word, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
#define MARROW_RELEASE(s) \
  asm volatile("st.release." s ".global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(&word)), "l"(value) : "memory")
  MARROW_SCOPED(S, MARROW_RELEASE);
#undef MARROW_RELEASE
#else
  std::atomic_ref(word).store(value, std::memory_order_release);
#endif
}

/// The value before.
template <Scope S>
MARROW_HD inline std::uint64_t fetch_add(std::uint64_t& word, std::uint64_t more) {
#if defined(__CUDA_ARCH__)
  std::uint64_t old;
#define MARROW_ADD(s)                                            \
  asm volatile("atom.relaxed." s ".global.add.u64 %0, [%1], %2;" \
               : "=l"(old)                                       \
               : "l"(__cvta_generic_to_global(&word)), "l"(more) \
               : "memory")
  MARROW_SCOPED(S, MARROW_ADD);
#undef MARROW_ADD
  return old;
#else
  return std::atomic_ref(word).fetch_add(more, std::memory_order_acq_rel);
#endif
}

/// The word becomes the larger of both. The value before.
template <Scope S>
MARROW_HD inline std::uint64_t fetch_max(std::uint64_t& word, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  std::uint64_t old;
#define MARROW_MAX(s)                                             \
  asm volatile("atom.relaxed." s ".global.max.u64 %0, [%1], %2;"  \
               : "=l"(old)                                        \
               : "l"(__cvta_generic_to_global(&word)), "l"(value) \
               : "memory")
  MARROW_SCOPED(S, MARROW_MAX);
#undef MARROW_MAX
  return old;
#else
  std::atomic_ref shared(word);
  auto old = shared.load(std::memory_order_acquire);
  while (old < value && !shared.compare_exchange_weak(old, value, std::memory_order_acq_rel)) {
  }
  return old;
#endif
}

/// Stores `desired` where `expected` stands. The value before: `expected` means that it was stored.
template <Scope S>
MARROW_HD inline std::uint64_t compare_swap(std::uint64_t& word, std::uint64_t expected, std::uint64_t desired) {
#if defined(__CUDA_ARCH__)
  std::uint64_t old;
#define MARROW_CAS(s)                                                              \
  asm volatile("atom.relaxed." s ".global.cas.b64 %0, [%1], %2, %3;"               \
               : "=l"(old)                                                         \
               : "l"(__cvta_generic_to_global(&word)), "l"(expected), "l"(desired) \
               : "memory")
  MARROW_SCOPED(S, MARROW_CAS);
#undef MARROW_CAS
  return old;
#else
  std::atomic_ref(word).compare_exchange_strong(expected, desired, std::memory_order_acq_rel);
  return expected;
#endif
}

#if defined(__CUDA_ARCH__)
#undef MARROW_SCOPED
#endif

}  // namespace marrow::gda
