// SPDX-License-Identifier: Apache-2.0
// Each step of the hand-off as the compiler leaves it: the store by which the worker sees the descriptor, what comes
// before it, and what waits. tools/ptx_check reads the comments; its "doorbell" is that store. Their lines are
// as long as they need to be.
// clang-format off
#include "marrow/proxy/producer.h"

namespace proxy = marrow::proxy;

template <class H>
__device__ void hand_over(const proxy::Ring& ring, const proxy::Put& put, marrow::gda::Status* out) {
  proxy::Producer<H> producer{ring};
  *out = producer.put(put).status;
}

#define KERNEL(name, hand_off)                                                                              \
  extern "C" __global__ void name(proxy::Ring ring, proxy::Put put, marrow::gda::Status* out) { \
    hand_over<hand_off>(ring, put, out);                                                                 \
  }

// An atomic, a read of the worker's index, the descriptor, and a released word behind it.
// PTX baseline: st.global.v2.b64 -> st.release.sys.global.b32 -> st.global.u8
// PTX-NOT baseline: fence, membar, st.relaxed
KERNEL(baseline, proxy::Baseline)

// No atomic.
// PTX own_ring: st.global.v2.b64 -> st.release.sys.global.b32 -> st.global.u8
// PTX-NOT own_ring: fence, membar, st.relaxed, atom, red
KERNEL(own_ring, proxy::OwnRing)

// The same stores; the read has a branch around it, which counts_test counts.
// PTX cached_credit: st.global.v2.b64 -> st.release.sys.global.b32 -> st.global.u8
// PTX-NOT cached_credit: fence, membar, st.relaxed.sys, atom, red
KERNEL(cached_credit, proxy::CachedCredit)

// One store, still behind everything before it.
// PTX phase_mark: st.release.sys.global.b128 -> st.global.u8
// PTX-NOT phase_mark: fence, membar, st.relaxed.sys, atom, red
KERNEL(phase_mark, proxy::PhaseMark)

// One posted store and nothing else.
// PTX tuned: st.relaxed.sys.global.b128 -> st.global.u8
// PTX-NOT tuned: fence, membar, st.release, atom, red
KERNEL(tuned, proxy::Tuned)

// The same with several producers: the atomic is the last thing before the store, but for a look at a full ring.
// PTX tuned_shared: atom.relaxed.gpu.global.add.u64 -> st.relaxed.sys.global.b128 -> st.global.u8
// PTX-NOT tuned_shared: fence, membar, st.release
KERNEL(tuned_shared, proxy::SharedRing<proxy::Tuned>)

// A fence of its own stands right before the store.
// PTX fenced: fence.acq_rel.sys -> st.relaxed.sys.global.b128 -> st.global.u8
// PTX-NOT fenced: membar, st.release, atom, red
using Fenced = proxy::Fenced<proxy::Tuned, proxy::PreFence::kSystem>;
KERNEL(fenced, Fenced)

// What waits: an acquiring load of the completion word.
// PTX wait: st.global.v2.b64 -> st.release.sys.global.b32 -> ld.acquire.sys.global.b64
// PTX-NOT wait: fence, membar
extern "C" __global__ void wait(proxy::Ring ring, proxy::Put put, marrow::gda::Status* out) {
  proxy::Producer<proxy::Baseline> producer{ring};
  *out = producer.wait(producer.put(put));
}
