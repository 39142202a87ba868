// SPDX-License-Identifier: Apache-2.0
// What mini-gda costs a kernel in registers, beside straight-line floors: kernels with the same stores, fence and
// doorbell and nothing else. tests/ptx/registers.py compiles this and compares, as the comments say:
//
//   // REGISTERS kernel <= floor + n      // REGISTERS kernel spills nothing
#include "marrow/gda/shared_queue.h"

namespace gda = marrow::gda;
namespace wire = marrow::wire;

// 8 bytes from a register to the peer: three 16-byte stores, record, fence, doorbell. No room is asked for, nothing
// waits.
extern "C" __global__ void floor_issue(gda::Qp qp, gda::Remote to, std::uint64_t value) {
  constexpr gda::Recipe kRecipe = gda::recipe_of(gda::Ordering::kGpuFence);
  auto& c = *qp.counters;
  const std::uint64_t pi = c.pi;
  std::byte* wqe = qp.sq + (pi & qp.sq_mask()) * wire::kWqebbBytes;
  const auto ctrl =
      wire::ctrl_segment({qp.qpn, static_cast<std::uint32_t>(pi), wire::Completion::kAlways}, wire::Opcode::kWrite, 3);
  const auto remote = wire::remote_segment({to.addr, to.rkey});
  gda::Segment s;
  memcpy(&s, &ctrl, sizeof s);
  gda::store_segment(wqe, s);
  memcpy(&s, &remote, sizeof s);
  gda::store_segment(wqe + 16, s);
  gda::store_segment(wqe + 32, {{wire::inline_header(8).flag_bytes.raw, static_cast<std::uint32_t>(value),
                                 static_cast<std::uint32_t>(value >> 32), 0}});
  gda::store_dbrec<kRecipe>(qp.dbrec_send, pi + 1);
  gda::order_dbrec_before_doorbell<kRecipe>(qp.doorbell_mapping);
  gda::ring_doorbell<kRecipe>(qp, pi + 1);
  c.pi = pi + 1;
}

template <class P>
__device__ void issue(const gda::Qp& qp, gda::Remote to, std::uint64_t value) {
  gda::SendQueue<P> sq{qp};
  const auto slots = sq.reserve(gda::Solo{}, 1);
  sq.write_value(slots[0], to, value);
  static_cast<void>(sq.submit(gda::Solo{}, slots));
}
template <class P>
__device__ void put(const gda::Qp& qp, gda::Remote to, std::uint64_t value) {
  gda::SendQueue<P> sq{qp};
  const auto slots = sq.reserve(gda::Solo{}, 1);
  sq.write_value(slots[0], to, value);
  const auto result = sq.wait(gda::Solo{}, sq.submit(gda::Solo{}, slots));
  if (!result.ok()) qp.counters->error = result;
}

// REGISTERS floor_issue spills nothing

// A caller that tracks its room.
// REGISTERS issue_unchecked <= floor_issue + 4
// REGISTERS issue_unchecked spills nothing
extern "C" __global__ void issue_unchecked(gda::Qp qp, gda::Remote to, std::uint64_t value) {
  issue<gda::Credited<gda::GpuFence, gda::Credit::kNone>>(qp, to, value);
}

// REGISTERS issue_exclusive <= floor_issue + 4
// REGISTERS issue_exclusive spills nothing
extern "C" __global__ void issue_exclusive(gda::Qp qp, gda::Remote to, std::uint64_t value) {
  issue<gda::GpuFence>(qp, to, value);
}
// REGISTERS post_exclusive <= floor_issue + 4
// REGISTERS post_exclusive spills nothing
extern "C" __global__ void post_exclusive(gda::Qp qp, gda::Remote to, std::uint64_t value) {
  gda::SendQueue<gda::GpuFence> sq{qp};
  static_cast<void>(
      sq.post(gda::Solo{}, gda::Room{}, [&](const gda::Slots& slots) { sq.write_value(slots[0], to, value); }));
}
// REGISTERS put_exclusive <= floor_issue + 8
// REGISTERS put_exclusive spills nothing
extern "C" __global__ void put_exclusive(gda::Qp qp, gda::Remote to, std::uint64_t value) {
  put<gda::GpuFence>(qp, to, value);
}
// The same where nothing rests in registers, also for a warp.
// REGISTERS put_lean <= floor_issue + 0
// REGISTERS put_lean spills nothing
extern "C" __global__ void put_lean(const __grid_constant__ gda::Qp qp, gda::Remote to, std::uint64_t value) {
  put<gda::Lean<gda::GpuFence>>(qp, to, value);
}
// REGISTERS put_lean_by_a_warp <= floor_issue + 4
// REGISTERS put_lean_by_a_warp spills nothing
extern "C" __global__ void put_lean_by_a_warp(const gda::Qp* qp, gda::Remote to, std::uint64_t value) {
  const gda::Warp team;
  gda::SendQueue<gda::Batch<gda::Lean<gda::GpuFence>, 0, gda::PostWhen::kCaller>> sq{*qp};
  const auto slots = sq.reserve(team, team.size());
  sq.write_value(slots[team.rank()], to + 8 * team.rank(), value);
  const auto result = sq.wait(team, sq.submit(team, slots));
  if (!result.ok()) qp->counters->error = result;
}
// REGISTERS put_shared <= floor_issue + 24
// REGISTERS put_shared spills nothing
extern "C" __global__ void put_shared(gda::Qp qp, gda::Remote to, std::uint64_t value) {
  put<gda::Shared<gda::GpuFence>>(qp, to, value);
}

// Eight live values beside a branch that is never taken: the code's own registers come on top of a caller as lean as
// this. What callers of a measured size pay is in experiments/enclosing_kernel.
template <class F>
__device__ void with_live_values(float* values, unsigned rounds, F&& between) {
  float v[8];
  for (int i = 0; i < 8; ++i) v[i] = values[threadIdx.x + 32 * i];
  for (unsigned round = 0; round < rounds; ++round) {
    for (int i = 0; i < 8; ++i) v[i] = v[i] * 1.0001f + v[(i + 1) % 8];
    between(round);
  }
  for (int i = 0; i < 8; ++i) values[threadIdx.x + 32 * i] = v[i];
}
extern "C" __global__ void floor_compute(gda::Qp, gda::Remote, float* values, unsigned rounds) {
  with_live_values(values, rounds, [](unsigned) {});
}
// REGISTERS dormant_compute <= floor_compute + 32
// REGISTERS dormant_compute spills nothing
extern "C" __global__ void dormant_compute(gda::Qp qp, gda::Remote to, float* values, unsigned rounds, unsigned when) {
  with_live_values(values, rounds, [&](unsigned round) {
    if (round == when) issue<gda::GpuFence>(qp, to, round);
  });
}
// REGISTERS dormant_compute_lean <= floor_compute + 16
// REGISTERS dormant_compute_lean spills nothing
extern "C" __global__ void dormant_compute_lean(const gda::Qp* qp, gda::Remote to, float* values, unsigned rounds,
                                                unsigned when) {
  with_live_values(values, rounds, [&](unsigned round) {
    if (round == when) issue<gda::Lean<gda::GpuFence>>(*qp, to, round);
  });
}
