// SPDX-License-Identifier: Apache-2.0
// Each ordering recipe as the compiler leaves it: which stores and fences, of which scope, in which order, from the WQE
// (three 16-byte stores) to the doorbell, and which load and fence follow in the poll. tools/ptx_check reads the
// comments. Their lines are as long as they need to be.
// clang-format off
#include "marrow/gda/send_queue.h"

namespace gda = marrow::gda;

template <class P, class Team>
__device__ void put(const gda::Qp& qp, gda::Remote to, std::uint64_t value, gda::Result* out) {
  gda::SendQueue<P> sq{qp};
  const Team team;
  const auto slots = sq.reserve(team, team.size());
  sq.write_value(slots[team.rank()], to + 8 * team.rank(), value);
  const auto result = sq.wait(team, sq.submit(team, slots));
  if (team.rank() == 0) *out = result;
}

#define KERNEL(name, policy, team)                                                                             \
  extern "C" __global__ void name(gda::Qp qp, gda::Remote to, std::uint64_t value, gda::Result* out) { \
    put<gda::policy, gda::team>(qp, to, value, out);                                                           \
  }

// Nothing orders: plain stores, and the single 64-bit MMIO store.
// PTX solo_none: st.global.v4.b32 x3, st.global.b32 -> st.mmio.relaxed.sys.global.b64 -> ld.relaxed.gpu.global.L1::no_allocate.b32
// PTX-NOT solo_none: fence, membar, atom, red
KERNEL(solo_none, NoOrder, Solo)

// One GPU-scope fence between dbrec and doorbell.
// PTX solo_gpu_fence: st.global.v4.b32 x3, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64 -> ld.relaxed.gpu.global.L1::no_allocate.b32, fence.acq_rel.gpu
// PTX-NOT solo_gpu_fence: membar, fence.acq_rel.sys, fence.sc, atom, red
KERNEL(solo_gpu_fence, GpuFence, Solo)

// A second one between WQE and dbrec.
// PTX solo_gpu_fence_dbrec: st.global.v4.b32 x3, fence.acq_rel.gpu, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64 -> ld.relaxed.gpu.global.L1::no_allocate.b32, fence.acq_rel.gpu
// PTX-NOT solo_gpu_fence_dbrec: membar, fence.acq_rel.sys, fence.sc, atom, red
KERNEL(solo_gpu_fence_dbrec, GpuFenceDbrec, Solo)

// Both stores carry their own order; no fence before the CQE.
// PTX solo_gpu_release_store: st.global.v4.b32 x3, st.release.gpu.global.L1::no_allocate.b32 -> st.release.gpu.global.L1::no_allocate.b64 -> ld.relaxed.gpu.global.L1::no_allocate.b32, fence.acq_rel.gpu
// PTX-NOT solo_gpu_release_store: membar, st.mmio, fence.acq_rel.sys, atom, red
KERNEL(solo_gpu_release_store, GpuReleaseStore, Solo)

// What __threadfence() is (membar.gl), twice, around volatile stores.
// PTX solo_threadfence: st.global.v4.b32 x3, membar.gl, st.volatile.global.b32, membar.gl -> st.volatile.global.b64 -> ld.relaxed.gpu.global.L1::no_allocate.b32, fence.acq_rel.gpu
// PTX-NOT solo_threadfence: membar.sys, st.mmio, atom, red
KERNEL(solo_threadfence, Threadfence, Solo)

// PTX solo_sys_release_store: st.global.v4.b32 x3, st.relaxed.sys.global.b32 -> st.release.sys.global.b64 -> ld.relaxed.sys.global.L1::no_allocate.b32, fence.acq_rel.sys
// PTX-NOT solo_sys_release_store: membar, st.mmio, fence.acq_rel.gpu, atom, red
KERNEL(solo_sys_release_store, SystemReleaseStore, Solo)

// PTX solo_sys_fence: st.global.v4.b32 x3, st.relaxed.sys.global.b32, fence.acq_rel.sys -> st.mmio.relaxed.sys.global.b64 -> ld.relaxed.sys.global.L1::no_allocate.b32, fence.acq_rel.sys
// PTX-NOT solo_sys_fence: membar, fence.acq_rel.gpu, atom, red
KERNEL(solo_sys_fence, SystemFence, Solo)

// A warp: the barrier that makes 31 lanes' WQEs part of what the leader orders stands before the leader's first fence.
// PTX warp_none: st.global.v4.b32 x3, bar.warp.sync, st.global.b32 -> st.mmio.relaxed.sys.global.b64
KERNEL(warp_none, NoOrder, Warp)
// PTX warp_gpu_fence: st.global.v4.b32 x3, bar.warp.sync, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
KERNEL(warp_gpu_fence, GpuFence, Warp)
// PTX warp_gpu_fence_dbrec: st.global.v4.b32 x3, bar.warp.sync, fence.acq_rel.gpu, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
KERNEL(warp_gpu_fence_dbrec, GpuFenceDbrec, Warp)
// PTX warp_gpu_release_store: st.global.v4.b32 x3, bar.warp.sync, st.release.gpu.global.L1::no_allocate.b32 -> st.release.gpu.global.L1::no_allocate.b64
KERNEL(warp_gpu_release_store, GpuReleaseStore, Warp)
// PTX warp_threadfence: st.global.v4.b32 x3, bar.warp.sync, membar.gl, st.volatile.global.b32, membar.gl -> st.volatile.global.b64
KERNEL(warp_threadfence, Threadfence, Warp)
// PTX warp_sys_release_store: st.global.v4.b32 x3, bar.warp.sync, st.relaxed.sys.global.b32 -> st.release.sys.global.b64
KERNEL(warp_sys_release_store, SystemReleaseStore, Warp)
// PTX warp_sys_fence: st.global.v4.b32 x3, bar.warp.sync, st.relaxed.sys.global.b32, fence.acq_rel.sys -> st.mmio.relaxed.sys.global.b64
KERNEL(warp_sys_fence, SystemFence, Warp)
