// SPDX-License-Identifier: Apache-2.0
// A DCI's WQEs on the GPU: an address vector behind each control segment, and one destination a round. What a round did
// is visible before the next one begins, so a change of destination waits for all before it, as on a NIC.
// Facts: address vector and its extension bit [dv]; one destination at a time, a wrong key looks like silence [obs].
#pragma once

#include "cx7/cuda/complete.cuh"
#include "cx7/cuda/fetch.cuh"
#include "marrow/wire/dc.h"

namespace marrow::cx7::cuda {

/// Where a round goes. All lanes know the same.
struct Aim {
  uint4 av{};                       // compact, as in memory
  std::uint32_t device = kDevices;  // kDevices: the LID is nobody's
  bool none = false;                // NOPs and refusals alone
  [[nodiscard]] __device__ std::uint32_t dctn() const { return swapped(av.z) & 0xffffff; }
  [[nodiscard]] __device__ std::uint64_t key() const { return swapped(av.x, av.y); }
  [[nodiscard]] __device__ std::uint32_t mark() const { return 1u << 31 | device << 24 | dctn(); }
};

/// Takes the address vector out of a first block: from then on the WQE's segments count as an RC queue's.
__device__ inline void take_av(const QueueEntry& queue, Wqe& wqe, uint4& av, bool strict, GpuCounters& counters) {
  constexpr std::uint32_t kReservedDctn = 0x7f000000;
  constexpr std::uint32_t kForcedLoopback = 1u << 23;
  constexpr std::uint32_t kGrhOrReserved = 0xf0000000;  // a GRH: its GID is not looked up here
  av = wqe.segment[0];
  const bool extended = (swapped(av.z) & wire::kAvExtended) != 0;
  wqe.av_ds = extended ? wire::kFullAvDs : wire::kCompactAvDs;
  if (wqe.ds < 1 + wqe.av_ds) {
    wqe.refusal = kMalformed;
    return;
  }
  const bool grh = extended && (swapped(wqe.segment[1].w) & kGrhOrReserved) != 0;
  if (grh || (swapped(av.z) & kReservedDctn) != 0 || (swapped(av.w) & kForcedLoopback) != 0) {
    count(counters.strict_wqe_reserved_bits);
    if (strict || grh) wqe.refusal = kMalformed;
  }
  wqe.ds -= wqe.av_ds;
  for (std::uint32_t k = 0; k < 3; ++k) wqe.segment[k] = load128(segment_at(queue, wqe.index, k + 1 + wqe.av_ds));
}

/// Leaves in the round what goes where its first WQE goes. \returns how many of the `whole` WQEBBs that is.
__device__ inline std::uint32_t keep_one_aim(const QueueEntry& queue, const uint4& av, std::uint32_t whole, Wqe& wqe,
                                             Aim& aim) {
  const std::uint32_t lane = threadIdx.x % kLanes;
  const bool named = wqe.wqebbs != 0 && wqe.av_ds != 0 && wqe.refusal.syndrome == wire::Syndrome::kNone;
  const std::uint32_t all = __ballot_sync(~0u, named);
  aim.none = all == 0;
  if (aim.none) return whole;
  const auto first = static_cast<std::uint32_t>(__ffs(static_cast<int>(all))) - 1;
  aim.av = {__shfl_sync(~0u, av.x, first), __shfl_sync(~0u, av.y, first), __shfl_sync(~0u, av.z, first),
            __shfl_sync(~0u, av.w, first)};
  const std::uint32_t lid = swapped(aim.av.w) & 0xffff;
  if (lid != 0 && lid == (queue.dc_lids & 0xffff)) aim.device = 0;
  if (lid != 0 && lid == queue.dc_lids >> 16) aim.device = 1;
  const bool same = av.x == aim.av.x && av.y == aim.av.y && av.z == aim.av.z && av.w == aim.av.w;
  const std::uint32_t others = __ballot_sync(~0u, named && !same);
  if (others == 0) return whole;
  const auto end = static_cast<std::uint32_t>(__ffs(static_cast<int>(others))) - 1;
  if (lane >= end) {
    wqe.wqebbs = 0;
    wqe.refusal = {};
  }
  return end;
}

/// The target's entry; true when it is a DCT that takes this key. `keyed`: it is there, whatever its key.
__device__ inline bool find_dct(const Tables& tables, const Aim& aim, PeerEntry& peer, bool& keyed) {
  keyed = true;
  if (aim.none) return true;
  if (aim.device >= kDevices) return false;
  const auto* const entry = reinterpret_cast<const std::byte*>(&tables.sides[aim.device].peers[aim.dctn() & 0xffff]);
  const uint4 a = load128(entry);
  const uint4 b = load128(entry + 16);
  peer = {.qpn = a.x, .pdn = a.z, .access = a.w};
  const bool receives = (b.x & 0xff) != 0 && (b.x >> 16 & 0xff) != 0 && a.x == aim.dctn();
  keyed = (std::uint64_t{b.w} << 32 | b.z) == aim.key() || !receives;
  return receives && keyed;
}

}  // namespace marrow::cx7::cuda
