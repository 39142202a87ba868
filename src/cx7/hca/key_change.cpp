// SPDX-License-Identifier: Apache-2.0
// Part of stop 6: UMR work requests, which bind a memory window to a part of a region or take it back, and the
// invalidation that a peer's send brings. Facts: segments, flags and masks [dv: mlx5_wqe_umr_ctrl_seg,
// mlx5_wqe_mkey_context_seg, mlx5_wqe_umr_klm_seg]; rules of windows [prm: IBA vol. 1, 10.6.7].
#include "cx7/hca/key_change.h"

#include <cstring>

#include "cx7/hca/data_path.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

using wire::Syndrome;

constexpr Refusal kMalformed{Syndrome::kLocalQpOperation, 0x68};
constexpr Refusal kNotBound{Syndrome::kMwBind, 0};

struct UmrControl {
  std::uint8_t flags;
  std::uint8_t reserved1[3];
  wire::be16 klm_octowords;
  wire::be16 translation_offset;
  wire::be64 mkey_mask;
  std::uint8_t reserved16[32];
};
struct UmrKeyContext {
  std::uint8_t free;
  std::uint8_t reserved1;
  std::uint8_t access_flags;
  std::uint8_t sf;
  wire::be32 qpn_mkey;
  wire::be32 reserved8;
  wire::be32 flags_pd;
  wire::be64 start_addr;
  wire::be64 len;
  std::uint8_t reserved32[32];
};
struct UmrKlm {
  wire::be32 byte_count;
  wire::be32 mkey;
  wire::be64 address;
};
static_assert(sizeof(UmrControl) == 48 && sizeof(UmrKeyContext) == 64 && sizeof(UmrKlm) == 16);

constexpr std::uint8_t kInline = 1u << 7;
constexpr std::uint8_t kCheckFree = 1u << 5;
constexpr std::uint8_t kTranslationOffset = 1u << 4;
constexpr std::uint8_t kCheckQpn = 1u << 3;
constexpr std::uint8_t kFree = 1u << 6;
// Length, start, key, QPN, four rights, free.
constexpr std::uint64_t kKnownMask = 1u << 0 | 1u << 6 | 1u << 13 | 1u << 14 | 0xfu << 18 | 1u << 29;

constexpr std::uint32_t access_of(std::uint8_t flags) {
  return ((flags & 1u << 3) != 0 ? kLocalWrite : 0u) | ((flags & 1u << 4) != 0 ? kRemoteRead : 0u) |
         ((flags & 1u << 5) != 0 ? kRemoteWrite : 0u) | ((flags & 1u << 6) != 0 ? kRemoteAtomic : 0u);
}

template <class Segment>
bool take(std::span<const std::byte>& segments, Segment& segment) {
  if (segments.size() < sizeof segment) return false;
  std::memcpy(&segment, segments.data(), sizeof segment);
  segments = segments.subspan(sizeof segment);
  return true;
}

void take_back(Mkey& window) {
  window.region = 0;
  window.access = 0;
  window.iova = 0;
  window.bytes = 0;
  window.host = nullptr;
  window.qpn = kAnyQp;
}

}  // namespace

Refusal DataPath::parse_key_change(std::span<const std::byte> segments, DecodedWqe& wqe) {
  UmrControl control;
  UmrKeyContext context;
  if (!take(segments, control) || !take(segments, context)) return kMalformed;
  constexpr std::uint8_t kKnownFlags = kInline | kCheckFree | kTranslationOffset | kCheckQpn;
  if ((control.flags & kInline) == 0 || (control.flags & ~kKnownFlags) != 0 ||
      (control.mkey_mask.host() & ~kKnownMask) != 0) {
    util::log::once("wqe.umr", "UMR with flags {:#x} and mask {:#x} is not modelled, only binding of windows is",
                    control.flags, control.mkey_mask.host());
    return kMalformed;
  }
  auto& change = wqe.key_change;
  change = {.key = wqe.ctrl.imm.host(),
            .takes_back = (context.free & kFree) != 0,
            .must_show_nothing = (control.flags & kCheckFree) != 0,
            .must_be_own = (control.flags & kCheckQpn) != 0,
            .qpn = context.qpn_mkey.host() >> 8,
            .variant = static_cast<std::uint8_t>(context.qpn_mkey.host())};
  if (change.takes_back) return {};
  UmrKlm klm;
  if (!take(segments, klm)) return kMalformed;
  change.access = access_of(context.access_flags);
  change.iova = context.start_addr.host();
  change.bytes = context.len.host();
  change.region = klm.mkey.host();
  change.region_va = klm.address.host();
  return {};
}

Refusal DataPath::change_key(const Qp& qp, const KeyChange& change) {
  Mkey* const window = device_.mkeys.find(change.key >> 8);
  if (window == nullptr || !window->window || window->pdn != qp.config.pdn) return kNotBound;
  if (change.must_be_own && window->qpn != qp.config.qpn) return kNotBound;
  if (change.must_show_nothing && window->region != 0) return kNotBound;
  if (!change.takes_back) {
    const Mkey* const region = device_.mkeys.find(change.region >> 8);
    if (region == nullptr || region->window || (region->access & kWindowBind) == 0) return kNotBound;
    const bool writes = (change.access & (kRemoteWrite | kRemoteAtomic)) != 0;
    std::byte* const host = resolve(device_, {.key = change.region,
                                              .pdn = window->pdn,
                                              .access = writes ? kLocalWrite : 0u,
                                              .va = change.region_va,
                                              .bytes = change.bytes});
    if (host == nullptr) return kNotBound;
    window->region = change.region;
    window->access = change.access;
    window->iova = change.iova;
    window->bytes = change.bytes;
    window->host = host;
    window->qpn = change.qpn;
  } else {
    take_back(*window);
  }
  window->key = (window->key & ~0xffu) | change.variant;
  return {};
}

// A peer may take back what its own QP can reach: a bound window of type 2.
bool DataPath::invalidate(const Qp& qp, std::uint32_t key) {
  Mkey* const window = device_.mkeys.find(key >> 8);
  if (window == nullptr || !window->window || window->key != key || window->qpn != qp.config.qpn) return false;
  take_back(*window);
  return true;
}

void Engine::forget_region(Device& device, std::uint32_t region) {
  for (Mkey* const window : device.windows) {
    if (window->region == region) take_back(*window);
  }
}

}  // namespace marrow::cx7
