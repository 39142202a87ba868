// SPDX-License-Identifier: Apache-2.0
// The same refusals where they matter, in a kernel. Compiled by must_not_compile.py, once for each case.
#include "marrow/gda/send_queue.h"

using namespace marrow::gda;

template <Ordering O, Mem M>
struct Pair : Policy {
  static constexpr std::string_view name = "pair";
  static constexpr Ordering ordering = O;
  static constexpr Placement placement = all_in(M);
};

template <class P>
__global__ void put(Qp qp, Remote to, Result* out) {
  SendQueue<P> sq{qp};
  const auto slots = sq.reserve(Warp{}, 32);
  sq.write_value(slots[Warp::rank()], to + 8 * Warp::rank(), 1);
  const auto result = sq.wait(Warp{}, sq.submit(Warp{}, slots));
  if (Warp::rank() == 0) *out = result;
}

// A GPU lane may use GPU memory at either scope, and host memory at system scope.
template __global__ void put<Pair<Ordering::kGpuFence, Mem::kGpu>>(Qp, Remote, Result*);
template __global__ void put<Pair<Ordering::kSystemFence, Mem::kGpu>>(Qp, Remote, Result*);
template __global__ void put<Pair<Ordering::kSystemFence, Mem::kHost>>(Qp, Remote, Result*);

#if MARROW_CASE == 1
// CASE 1: marrow: a GPU-scope ordering does not reach queues in host memory
template __global__ void put<Pair<Ordering::kGpuFence, Mem::kHost>>(Qp, Remote, Result*);
#elif MARROW_CASE == 2
// CASE 2: marrow: a GPU-scope ordering does not reach queues in host memory
template __global__ void put<Pair<Ordering::kNone, Mem::kHost>>(Qp, Remote, Result*);
#endif
