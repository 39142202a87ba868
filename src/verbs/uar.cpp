// SPDX-License-Identifier: Apache-2.0
// See uar.h. Facts: kinds of UAR and which register each gets [dv: mlx5dv_devx_alloc_uar].
#include "verbs/uar.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <span>

#include "util/error.h"

namespace marrow::verbs {
namespace {

/// MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED of rdma-core 45 and later [dv]; an older libmlx5 refuses it, and we try the next.
constexpr std::uint32_t kNcDedicated = 1u << 31;

struct Attempt {
  std::uint32_t flags;
  gda::DoorbellMapping mapping;
};
constexpr std::array kAttempts{
    Attempt{kNcDedicated, gda::DoorbellMapping::kUncached},
    Attempt{MLX5DV_UAR_ALLOC_TYPE_NC, gda::DoorbellMapping::kUncached},
    Attempt{MLX5DV_UAR_ALLOC_TYPE_BF, gda::DoorbellMapping::kWriteCombining},
};

std::span<const Attempt> attempts_for(UarChoice choice) {
  const std::span all(kAttempts);
  switch (choice) {
    case UarChoice::kUncached:
      return all.first(2);
    case UarChoice::kBlueFlame:
      return all.last(1);
    case UarChoice::kBest:
      break;
  }
  return all;
}

}  // namespace

Uar::Uar(const Context& context, UarChoice choice) {
  for (const Attempt& attempt : attempts_for(choice)) {
    handle_.reset(mlx5dv_devx_alloc_uar(context.get(), attempt.flags));
    mapping_ = attempt.mapping;
    if (handle_) return;
  }
  throw util::system_error(fmt::format("allocate a doorbell page on {}", context.name()), errno);
}

Umem::Umem(const Context& context, const HostBuffer& buffer)
    : handle_(mlx5dv_devx_umem_reg(context.get(), buffer.data(), buffer.bytes(), IBV_ACCESS_LOCAL_WRITE)) {
  if (!handle_) {
    throw util::system_error(fmt::format("register {} bytes of queue memory on {}", buffer.bytes(), context.name()),
                             errno);
  }
}

}  // namespace marrow::verbs
