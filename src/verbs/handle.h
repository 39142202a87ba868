// SPDX-License-Identifier: Apache-2.0
// Ownership of what libibverbs and libmlx5 hand out as pointers.
#pragma once

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include <memory>

namespace marrow::verbs {

/// Says so when an object would not go: its memory may then still be in the device's hands.
void report_failed_destroy(const char* what, int result);

template <class Object, auto kDestroy, const char* kName>
struct Destroyer {
  void operator()(Object* object) const noexcept { report_failed_destroy(kName, kDestroy(object)); }
};
template <class Object, auto kDestroy, const char* kName>
using Handle = std::unique_ptr<Object, Destroyer<Object, kDestroy, kName>>;

namespace handle_name {
inline constexpr char kContext[] = "context";
inline constexpr char kPd[] = "PD";
inline constexpr char kMr[] = "MR";
inline constexpr char kCq[] = "CQ";
inline constexpr char kQp[] = "QP";
inline constexpr char kSrq[] = "SRQ";
inline constexpr char kAh[] = "AH";
inline constexpr char kUmem[] = "umem";
inline constexpr char kObject[] = "DEVX object";
}  // namespace handle_name

using ContextHandle = Handle<ibv_context, &ibv_close_device, handle_name::kContext>;
using PdHandle = Handle<ibv_pd, &ibv_dealloc_pd, handle_name::kPd>;
using MrHandle = Handle<ibv_mr, &ibv_dereg_mr, handle_name::kMr>;
using CqHandle = Handle<ibv_cq, &ibv_destroy_cq, handle_name::kCq>;
using QpHandle = Handle<ibv_qp, &ibv_destroy_qp, handle_name::kQp>;
using SrqHandle = Handle<ibv_srq, &ibv_destroy_srq, handle_name::kSrq>;
using AhHandle = Handle<ibv_ah, &ibv_destroy_ah, handle_name::kAh>;
using UmemHandle = Handle<mlx5dv_devx_umem, &mlx5dv_devx_umem_dereg, handle_name::kUmem>;
using DevxHandle = Handle<mlx5dv_devx_obj, &mlx5dv_devx_obj_destroy, handle_name::kObject>;

struct UarDestroyer {
  void operator()(mlx5dv_devx_uar* uar) const noexcept { mlx5dv_devx_free_uar(uar); }
};
using UarHandle = std::unique_ptr<mlx5dv_devx_uar, UarDestroyer>;

}  // namespace marrow::verbs
