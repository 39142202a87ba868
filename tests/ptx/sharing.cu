// SPDX-License-Identifier: Apache-2.0
// Shared queues, doorbell sequences and WQE stores as the compiler leaves them: which atomics, of which scope, and what
// stands around the doorbell. tools/ptx_check reads the comments. A lock, a turn and a poll are loops, so a row begins
// at the nearest.
// clang-format off
#include "marrow/gda/queue_set.h"
#include "marrow/gda/signal.h"

namespace gda = marrow::gda;

template <class P, class Team>
__device__ void put(const gda::Qp& qp, gda::Remote to, std::uint64_t value, gda::Result* out) {
  gda::SendQueue<P> sq{qp};
  const Team team;
  const auto slots = sq.reserve(team, team.size());
  sq.write_value(slots[team.rank()], to + 8 * team.rank(), value);
  const auto ticket = sq.submit(team, slots);
  if (team.rank() == 0) *out = {ticket.status};
}

#define KERNEL(name, team, ...)                                                                        \
  extern "C" __global__ void name(gda::Qp qp, gda::Remote to, std::uint64_t value, gda::Result* out) { \
    put<__VA_ARGS__, gda::team>(qp, to, value, out);                                                   \
  }

using gda::DoorbellSequence;
using gda::GpuFence;
using gda::PostLock;
using gda::Turn;
using gda::WqeStore;
using Slots = gda::Shared<GpuFence>;
// Without a credit check no wait for room stands between: what remains is the way of publishing.
template <class P>
using Bare = gda::Credited<P, gda::Credit::kNone>;

// Behind the lock: the highest index, record, fence, doorbell, and the lock is given away.
// PTX slots_swap: atom.relaxed.gpu.global.max.u64, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64 -> st.release.gpu.global.b64
// PTX slots_swap: fence.acquire.gpu -> atom.relaxed.gpu.global.max.u64 -> st.relaxed.sys.global.b32
// One atomic takes the slots, one fence orders the WQE before its slot is ready (the other is the doorbell's). Of four
// compare-and-swaps one is the turn, one the lock; two record an error.
// PTX-HAS slots_swap: atom.relaxed.gpu.global.add.u64 x1, fence.acq_rel.gpu x2, atom.relaxed.gpu.global.cas.b64 x4
// PTX-NOT slots_swap: membar, red, fence.acq_rel.sys, fence.acq_rel.cta
KERNEL(slots_swap, Solo, Bare<Slots>)

// A warp: its barrier stands before the leader's fence, and one atomic takes 32 slots. The turn is loads and a store.
// PTX warp_ready: atom.relaxed.gpu.global.max.u64, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64 -> st.release.gpu.global.b64
// PTX warp_ready: fence.acq_rel.gpu -> st.relaxed.gpu.global.b64 -> atom.relaxed.gpu.global.cas.b64
// PTX warp_ready: st.global.v4.b32 x3 -> bar.warp.sync -> fence.acq_rel.gpu, ld.relaxed.gpu.global.b64
// PTX-HAS warp_ready: atom.relaxed.gpu.global.add.u64 x1, fence.acq_rel.gpu x4
KERNEL(warp_ready, Warp, Bare<gda::Shared<GpuFence, Turn::kReadyIndex>>)

// The turn is the lock: no other atomic than the reservation, one fence, and the turn passed on behind the doorbell.
// PTX warp_turn: st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64 -> st.release.gpu.global.b64
// PTX warp_turn: st.global.v4.b32 x3 -> bar.warp.sync -> ld.relaxed.gpu.global.b64, st.relaxed.sys.global.b32
// PTX-HAS warp_turn: atom.relaxed.gpu.global.add.u64 x1, fence.acq_rel.gpu x1
// PTX-NOT warp_turn: atom.relaxed.gpu.global.max, st.relaxed.gpu
KERNEL(warp_turn, Warp, Bare<gda::Shared<GpuFence, Turn::kReadyIndex, PostLock::kTurn>>)

// One block: the same atomics at block scope; what the NIC must see keeps the ordering's fence.
// PTX in_block: atom.relaxed.cta.global.max.u64, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64 -> st.release.cta.global.b64
// PTX-HAS in_block: atom.relaxed.cta.global.add.u64 x1, fence.acq_rel.gpu x1, fence.acq_rel.cta x2
// PTX-NOT in_block: atom.relaxed.gpu, st.release.gpu, ld.relaxed.gpu.global.b64
KERNEL(in_block, Solo, Bare<gda::InBlock<Slots>>)

// A lock around everything: taken before the slot is known, given away behind the doorbell.
// PTX locked: st.global.v4.b32 x3, ld.relaxed.gpu.global.b64, st.relaxed.gpu.global.b64, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64 -> st.release.gpu.global.b64
// PTX-NOT locked: atom.relaxed.gpu.global.add, atom.relaxed.gpu.global.max
KERNEL(locked, Solo, Bare<gda::Locked<GpuFence>>)

// A block on its own queue: barriers, no atomics.
// PTX block: st.global.v4.b32 x3, bar.sync, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
// PTX-NOT block: atom, red
KERNEL(block, Block, Bare<GpuFence>)

// The three verbs at once: the same stores in the same order.
// PTX posted: st.global.v4.b32 x3, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
// PTX-NOT posted: atom, red
extern "C" __global__ void posted(gda::Qp qp, gda::Remote to, std::uint64_t value, gda::Result* out) {
  gda::SendQueue<Bare<GpuFence>> sq{qp};
  *out = {sq.post(gda::Solo{}, gda::Room{}, [&](const gda::Slots& s) { sq.write_value(s[0], to, value); }).status};
}

// Two doorbells: the row names the record, which stands once, between them.
// PTX early: st.global.v4.b32 x3, fence.acq_rel.gpu, st.mmio.relaxed.sys.global.b64 -> st.relaxed.sys.global.b32 -> fence.acq_rel.gpu, st.mmio.relaxed.sys.global.b64
KERNEL(early, Solo, Bare<gda::Rings<GpuFence, DoorbellSequence::kEarly>>)
// PTX early_unfenced: st.global.v4.b32 x3, st.mmio.relaxed.sys.global.b64 -> st.relaxed.sys.global.b32 -> fence.acq_rel.gpu, st.mmio.relaxed.sys.global.b64
KERNEL(early_unfenced, Solo, Bare<gda::Rings<GpuFence, DoorbellSequence::kEarlyUnfenced>>)
// PTX no_record: st.global.v4.b32 x3, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
// PTX-NOT no_record: st.relaxed.sys.global.b32
KERNEL(no_record, Solo, Bare<gda::Rings<GpuFence, DoorbellSequence::kNoRecord>>)

// Neither record nor register: the index goes to the host.
// PTX forwarded: st.global.v4.b32 x3, fence.acq_rel.gpu -> st.relaxed.sys.global.b64
// PTX-NOT forwarded: st.mmio, atom, red, st.relaxed.sys.global.b32
KERNEL(forwarded, Solo, Bare<gda::Forwarded<GpuFence>>)
// Of several posters the highest stays; there is no lock.
// PTX forwarded_slots: fence.acq_rel.gpu -> red.relaxed.sys.global.max.u64
// PTX-NOT forwarded_slots: st.mmio, st.release, st.relaxed.sys
KERNEL(forwarded_slots, Solo, Bare<gda::Forwarded<gda::Shared<GpuFence, Turn::kCompareSwap, PostLock::kNone>>>)

// The ways to store a WQE.
// PTX streaming: st.global.cs.v4.b32 x3, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
KERNEL(streaming, Solo, Bare<gda::Stores<GpuFence, WqeStore::kStreaming>>)
// PTX relaxed_wide: st.relaxed.gpu.global.L1::no_allocate.v4.b32 x3, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
KERNEL(relaxed_wide, Solo, Bare<gda::Stores<GpuFence, WqeStore::kRelaxedWide>>)
// PTX relaxed_word: st.relaxed.gpu.global.b32 x12, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
KERNEL(relaxed_word, Solo, Bare<gda::Stores<GpuFence, WqeStore::kRelaxedWord>>)

// A put and its signal: seven stores, one fence, one doorbell.
// PTX signalled: st.global.v4.b32 x7, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
extern "C" __global__ void signalled(gda::Qp qp, gda::Put put, gda::Arrival arrival) {
  using P = Bare<gda::Pointer<GpuFence>>;
  gda::SendQueue<P> sq{qp};
  const auto slots = sq.reserve(gda::Solo{}, gda::put_with_signal_room<P>(1, 8));
  gda::put_with_signal(sq, slots, 0, put, arrival);
  static_cast<void>(sq.submit(gda::Solo{}, slots));
}

// A DC write by pointer: control, address vector of one segment or of three, remote, data.
// PTX dc_compact: st.global.v4.b32 x4, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
// PTX dc_full: st.global.v4.b32 x6, st.relaxed.sys.global.b32, fence.acq_rel.gpu -> st.mmio.relaxed.sys.global.b64
template <gda::Transport T>
__device__ void dc(const gda::Qp& qp, const marrow::wire::AddressVector& target, const gda::Put& put) {
  using P = gda::Via<gda::Pointer<GpuFence>, T>;
  gda::SendQueue<P> sq{qp};
  sq.aim(target);
  const auto slots = sq.reserve(gda::Solo{}, gda::Room{1, gda::write_wqebbs<P>(8)});
  sq.write(slots[0], put);
  static_cast<void>(sq.submit(gda::Solo{}, slots));
}
extern "C" __global__ void dc_compact(gda::Qp qp, const marrow::wire::AddressVector* target, gda::Put put) {
  dc<gda::Transport::kDcCompact>(qp, *target, put);
}
extern "C" __global__ void dc_full(gda::Qp qp, const marrow::wire::AddressVector* target, gda::Put put) {
  dc<gda::Transport::kDcFull>(qp, *target, put);
}

// A warp waits for a set of queues: its lanes share them out, and one ballot tells all of a failure. Nothing is rung.
// PTX-HAS quiet: vote.sync.ballot.b32 x1
// PTX-NOT quiet: st.mmio, atom.relaxed.gpu.global.add
extern "C" __global__ void quiet(gda::QueueSet set, gda::Result* out) {
  *out = gda::quiet_all<Slots>(gda::Warp{}, set);
}
