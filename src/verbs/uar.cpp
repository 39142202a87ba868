// SPDX-License-Identifier: Apache-2.0
// See uar.h. Facts: kinds of UAR and which register each gets [dv: mlx5dv_devx_alloc_uar]; a DMA-BUF umem wants the
// page sizes that it may use as a bitmap [dv: mlx5dv_devx_umem_in].
#include "verbs/uar.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "util/error.h"

namespace marrow::verbs {
namespace {

/// MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED of rdma-core 45 and later [dv]; an older libmlx5 refuses it, and we try the next.
constexpr std::uint32_t kNcDedicated = 1u << 31;

constexpr std::uint64_t kLeastPage = 4096;

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

Umem::Umem(const Context& context, const Memory& buffer)
    : handle_(mlx5dv_devx_umem_reg(context.get(), buffer.data(), buffer.bytes(), IBV_ACCESS_LOCAL_WRITE)) {
  if (handle_) return;
  const int of_the_address = errno;
  const auto what =
      fmt::format("register {} bytes of queues, {}, on {}", buffer.bytes(), buffer.kind(), context.name());
  const auto dma_buf = buffer.dma_buf();
  if (!dma_buf) throw util::system_error(what, of_the_address);
  registration_ = Registration::kDmaBuf;
  mlx5dv_devx_umem_in in{};
  in.size = buffer.bytes();  // `addr` is an offset in the DMA-BUF: our objects lie at its start
  in.access = IBV_ACCESS_LOCAL_WRITE;
  in.pgsz_bitmap = ~(std::uint64_t{kLeastPage} - 1);
  in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
  in.dmabuf_fd = dma_buf.get();
  handle_.reset(mlx5dv_devx_umem_reg_ex(context.get(), &in));
  if (!handle_) {
    throw util::system_error(fmt::format("{}: by address {}; as a DMA-BUF", what, std::strerror(of_the_address)),
                             errno);
  }
}

}  // namespace marrow::verbs
