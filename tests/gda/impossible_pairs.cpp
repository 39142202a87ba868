// SPDX-License-Identifier: Apache-2.0
// Not compiled by the build: must_not_compile.py does, once for each case.
#include "marrow/gda/send_queue.h"

using namespace marrow::gda;

template <Ordering O, Mem M, std::uint32_t InlineBytes = 28, std::uint32_t N = 0>
struct Pair : Policy {
  static constexpr std::string_view name = "pair";
  static constexpr Ordering ordering = O;
  static constexpr Placement placement = all_in(M);
  static constexpr std::uint32_t max_inline_bytes = InlineBytes;
  static constexpr Batching batching{N};
};
struct OnlyTheCqFarAway : Pair<Ordering::kThreadfence, Mem::kGpu> {
  static constexpr Placement placement{Mem::kGpu, Mem::kHost, Mem::kGpu};
};
struct Nameless : Policy {};

// What must compile, so that the refusals below refuse for their reason alone.
static_assert(CheckPolicy<Pair<Ordering::kSystemFence, Mem::kHost>, Lane::kGpu>::ok);
static_assert(CheckPolicy<Pair<Ordering::kSystemReleaseStore, Mem::kHost>, Lane::kGpu>::ok);
static_assert(CheckPolicy<Pair<Ordering::kGpuFence, Mem::kHost>, Lane::kHost>::ok);
static_assert(CheckPolicy<Pair<Ordering::kGpuFence, Mem::kGpu, 220, 256>, Lane::kGpu>::ok);
using Good = SendQueue<Pair<Ordering::kGpuFence, Mem::kLane>>;

#if MARROW_CASE == 1
// CASE 1: a GPU-scope ordering does not reach queues in host memory
static_assert(CheckPolicy<Pair<Ordering::kGpuFence, Mem::kHost>, Lane::kGpu>::ok);
#elif MARROW_CASE == 2
// CASE 2: a GPU-scope ordering does not reach queues in host memory
static_assert(CheckPolicy<OnlyTheCqFarAway, Lane::kGpu>::ok);
#elif MARROW_CASE == 3
// CASE 3: a host lane cannot post to queues in GPU memory
void post(const Qp& qp) {
  SendQueue<Pair<Ordering::kSystemFence, Mem::kGpu>> sq{qp};
}
#elif MARROW_CASE == 4
// CASE 4: an inline payload has at most 220 bytes
void post(const Qp& qp) {
  SendQueue<Pair<Ordering::kGpuFence, Mem::kLane, 221>> sq{qp};
}
#elif MARROW_CASE == 5
// CASE 5: inline payload needs max_inline_bytes above 0
void post(const Qp& qp) {
  SendQueue<Pair<Ordering::kGpuFence, Mem::kLane, 0>> sq{qp};
}
#elif MARROW_CASE == 6
// CASE 6: a doorbell announces 1 to 256 WQEs
void post(const Qp& qp) {
  SendQueue<Pair<Ordering::kGpuFence, Mem::kLane, 28, 257>> sq{qp};
}
#elif MARROW_CASE == 7
// CASE 7: constraints not satisfied
void post(const Qp& qp) {
  SendQueue<Nameless> sq{qp};
}
#elif MARROW_CASE == 8
// CASE 8: Remote
void post(Good& sq, const Slot& slot, Local row, Remote peer) {
  sq.write(slot, {.to = row, .from = peer, .bytes = 8});
}
#elif MARROW_CASE == 9
// CASE 9: nodiscard
void post(Good& sq, const Ticket& ticket) {
  sq.wait(Solo{}, ticket);
}
#elif MARROW_CASE == 10
// CASE 10: nodiscard
void post(Good& sq, const Slots& slots) {
  sq.submit(Solo{}, slots);
}
#elif MARROW_CASE == 11
// CASE 11: deleted
Good twice(const Good& sq) {
  return sq;
}
#endif
