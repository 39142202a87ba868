// SPDX-License-Identifier: Apache-2.0
// Loads and stores of the engine's GPU threads. All go past L1: what they touch is written by others while they look.
// Facts: [prm: PTX ISA, memory consistency model]; that a load at system scope is served by the L2 of the GPU that owns
// the memory, or by the host over PCIe [obs].
#pragma once

#include <cstddef>
#include <cstdint>

namespace marrow::cx7::cuda {

__device__ inline std::uint32_t load32(const void* at) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return value;
}
__device__ inline std::uint64_t load64(const void* at) {
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return value;
}
__device__ inline std::uint8_t load8(const void* at) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u8 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return static_cast<std::uint8_t>(value);
}
/// 16 bytes, 16-byte aligned. Each 4-byte word is whole; the four may be of different times.
__device__ inline uint4 load128(const void* at) {
  uint4 v;
  asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(at))
               : "memory");
  return v;
}
__device__ inline void store8(void* at, std::uint8_t value) {
  asm volatile("st.relaxed.sys.global.u8 [%0], %1;" ::"l"(__cvta_generic_to_global(at)),
               "r"(static_cast<std::uint32_t>(value))
               : "memory");
}
__device__ inline void store32(void* at, std::uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "r"(value) : "memory");
}
__device__ inline void store64(void* at, std::uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "l"(value) : "memory");
}
__device__ inline void store128(void* at, uint4 v) {
  asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(at)), "r"(v.x),
               "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}
/// For words that say "what I stored before is there".
__device__ inline void store32_release(void* at, std::uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "r"(value) : "memory");
}
__device__ inline std::uint32_t load32_acquire(const void* at) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return value;
}

/// Earlier stores of this lane before later ones, for whoever looks: other threads of the engine's own GPU when `near`
/// says that everything touched lies there, else anybody.
__device__ inline void fence_of_lane(bool near) {
  if (near) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  } else {
    asm volatile("fence.acq_rel.sys;" ::: "memory");
  }
}
/// The same for the warp. Call by all lanes.
__device__ inline void fence(bool near) {
  fence_of_lane(near);
  __syncwarp();
}

__device__ inline std::uint64_t now_ns() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

/// `bytes` from `from` to `to`, by one lane, in the widest words that both allow. An aligned 8-byte word arrives whole.
__device__ inline void copy_by_lane(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  const auto misaligned = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  std::uint32_t at = 0;
  if ((reinterpret_cast<std::uintptr_t>(to) & 7) == 0 && (reinterpret_cast<std::uintptr_t>(from) & 3) == 0) {
    for (; at + 8 <= bytes; at += 8) {  // inline payload is only 4-byte aligned
      store64(to + at, std::uint64_t{load32(from + at + 4)} << 32 | load32(from + at));
    }
  }
  if ((misaligned & 3) == 0) {
    for (; at + 4 <= bytes; at += 4) store32(to + at, load32(from + at));
  }
  for (; at < bytes; ++at) store8(to + at, load8(from + at));
}

/// The same by all 32 lanes of a warp.
__device__ inline void copy_by_warp(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  const std::uint32_t lane = threadIdx.x % 32;
  const auto misaligned = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  const std::uint32_t word = (misaligned & 15) == 0 ? 16 : (misaligned & 3) == 0 ? 4 : 1;
  const std::uint32_t whole = bytes / word * word;
  for (std::uint32_t at = lane * word; at < whole; at += 32 * word) {
    if (word == 16) {
      store128(to + at, load128(from + at));
    } else if (word == 4) {
      store32(to + at, load32(from + at));
    } else {
      store8(to + at, load8(from + at));
    }
  }
  if (lane == 0) copy_by_lane(to + whole, from + whole, bytes - whole);
}

}  // namespace marrow::cx7::cuda
