// SPDX-License-Identifier: Apache-2.0
// Part of stop 6: UMR work requests, which bind a memory window to a part of a region, say what an indirect key shows,
// or take either back; and the invalidation that a peer's send brings. Facts: segments, flags and masks [dv:
// mlx5_wqe_umr_ctrl_seg, mlx5_wqe_mkey_context_seg, mlx5_wqe_umr_klm_seg]; rules of windows [prm: IBA vol. 1, 10.6.7].
#include "cx7/hca/key_change.h"

#include <cstring>

#include "cx7/hca/data_path.h"
#include "cx7/hca/key_layout.h"
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
  wire::be16 translation_offset;  // or how long a signature's description is
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
static_assert(sizeof(UmrControl) == 48 && sizeof(UmrKeyContext) == 64 && sizeof(UmrKlm) == kOctowordBytes);

constexpr std::uint8_t kInline = 1u << 7;
constexpr std::uint8_t kCheckFree = 1u << 5;
constexpr std::uint8_t kTranslationOffset = 1u << 4;
constexpr std::uint8_t kCheckQpn = 1u << 3;
constexpr std::uint8_t kFree = 1u << 6;

/// A right in the context of a work request, in the mask, and here.
struct Right {
  std::uint8_t flag;
  std::uint64_t mask;
  Access access;
};
constexpr Right kRights[] = {{1u << 3, key_mask::kLocalWrite, kLocalWrite},
                             {1u << 4, key_mask::kRemoteRead, kRemoteRead},
                             {1u << 5, key_mask::kRemoteWrite, kRemoteWrite},
                             {1u << 6, key_mask::kAtomic, kRemoteAtomic}};

std::uint32_t access_of(std::uint8_t flags) {
  std::uint32_t access = 0;
  for (const auto& right : kRights) access |= (flags & right.flag) != 0 ? right.access : 0u;
  return access;
}

template <class Segment>
bool take(std::span<const std::byte>& segments, Segment& segment) {
  if (segments.size() < sizeof segment) return false;
  std::memcpy(&segment, segments.data(), sizeof segment);
  segments = segments.subspan(sizeof segment);
  return true;
}

void take_back(Mkey& key) {
  if (key.kind == Mkey::Kind::kIndirect) {
    key.layout->clear();
    key.free = true;
    return;
  }
  key.region = 0;
  key.access = 0;
  key.iova = 0;
  key.bytes = 0;
  key.host = nullptr;
  key.qpn = kAnyQp;
}

Refusal bind(const Device& device, Mkey& window, const DecodedWqe& wqe) {
  const auto& change = wqe.key_change;
  if (change.octowords == 0) return kMalformed;
  UmrKlm klm;
  std::memcpy(&klm, wqe.inline_bytes.data(), sizeof klm);
  const Mkey* const region = device.mkeys.find(klm.mkey.host() >> 8);
  const bool showable = region != nullptr && region->kind == Mkey::Kind::kRegion && (region->access & kWindowBind) != 0;
  if (!showable) return kNotBound;
  const bool writes = (change.access & (kRemoteWrite | kRemoteAtomic)) != 0;
  std::byte* const host = resolve(device, {.key = klm.mkey.host(),
                                           .pdn = window.pdn,
                                           .access = writes ? kLocalWrite : 0u,
                                           .va = klm.address.host(),
                                           .bytes = change.bytes})
                              .host;
  if (host == nullptr) return kNotBound;
  window.region = klm.mkey.host();
  window.access = change.access;
  window.iova = change.iova;
  window.bytes = change.bytes;
  window.host = host;
  window.qpn = change.qpn;
  return {};
}

// What the mask leaves out stays as it was.
Refusal configure(Mkey& key, const DecodedWqe& wqe) {
  const auto& change = wqe.key_change;
  const std::span<const std::byte> entries(wqe.inline_bytes.data(), std::size_t{change.octowords} * kOctowordBytes);
  if ((change.mask & key_mask::kQpn) != 0 && change.qpn != kAnyQp) return kNotBound;
  if (!entries.empty() && !key.layout->take(entries)) return kNotBound;
  if ((change.mask & key_mask::kLength) != 0) key.bytes = change.bytes;
  if ((change.mask & key_mask::kStart) != 0) key.iova = change.iova;
  for (const auto& right : kRights) {
    if ((change.mask & right.mask) != 0)
      key.access = (key.access & ~std::uint32_t{right.access}) | (change.access & right.access);
  }
  if ((change.mask & key_mask::kFree) != 0) key.free = false;
  return {};
}

}  // namespace

Refusal DataPath::parse_key_change(std::span<const std::byte> segments, DecodedWqe& wqe) {
  UmrControl control;
  UmrKeyContext context;
  if (!take(segments, control) || !take(segments, context)) return kMalformed;
  constexpr std::uint8_t kKnownFlags = kInline | kCheckFree | kTranslationOffset | kCheckQpn;
  if ((control.flags & kInline) == 0 || (control.flags & ~kKnownFlags) != 0 ||
      (control.mkey_mask.host() & ~key_mask::kAll) != 0 || control.translation_offset.host() != 0) {
    util::log::once("wqe.umr", "UMR with flags {:#x} and mask {:#x} is not modelled: no signatures, no list by pointer",
                    control.flags, control.mkey_mask.host());
    return kMalformed;
  }
  auto& change = wqe.key_change;
  change = {.key = wqe.ctrl.imm.host(),
            .mask = control.mkey_mask.host(),
            .takes_back = (context.free & kFree) != 0,
            .must_show_nothing = (control.flags & kCheckFree) != 0,
            .must_be_own = (control.flags & kCheckQpn) != 0,
            .qpn = context.qpn_mkey.host() >> 8,
            .variant = static_cast<std::uint8_t>(context.qpn_mkey.host()),
            .access = access_of(context.access_flags),
            .iova = context.start_addr.host(),
            .bytes = context.len.host(),
            .octowords = control.klm_octowords.host()};
  if (change.takes_back) change.octowords = 0;
  const auto bytes = std::size_t{change.octowords} * kOctowordBytes;
  if (bytes > segments.size()) return kMalformed;
  std::memcpy(wqe.inline_bytes.data(), segments.data(), bytes);
  return {};
}

Refusal DataPath::change_key(const Qp& qp, const DecodedWqe& wqe) {
  const auto& change = wqe.key_change;
  Mkey* const key = device_.mkeys.find(change.key >> 8);
  if (key == nullptr || key->pdn != qp.config.pdn) return kNotBound;
  const bool window = key->kind == Mkey::Kind::kWindow;
  if (!window && !key->configurable) return kNotBound;
  const bool free = window ? key->region == 0 : key->free;
  const bool own = key->qpn == qp.config.qpn || (!window && key->qpn == kAnyQp);
  if ((change.must_be_own && !own) || (change.must_show_nothing && !free)) return kNotBound;
  if (change.takes_back) {
    take_back(*key);
  } else if (const auto refusal = window ? bind(device_, *key, wqe) : configure(*key, wqe)) {
    return refusal;
  }
  if (window || (change.mask & key_mask::kVariant) != 0) key->key = (key->key & ~0xffu) | change.variant;
  return {};
}

// A peer may take back what its own QP can reach: a bound window of type 2, or an indirect key that says so.
bool DataPath::invalidate(const Qp& qp, std::uint32_t key) {
  Mkey* const found = device_.mkeys.find(key >> 8);
  if (found == nullptr || found->key != key) return false;
  const bool window = found->kind == Mkey::Kind::kWindow && found->qpn == qp.config.qpn;
  const bool indirect =
      found->kind == Mkey::Kind::kIndirect && found->remote_invalidate && !found->free && found->pdn == pdn_of(qp);
  if (!window && !indirect) return false;
  take_back(*found);
  return true;
}

void Engine::forget_region(Device& device, std::uint32_t region) {
  for (Mkey* const window : device.windows) {
    if (window->region == region) take_back(*window);
  }
}

}  // namespace marrow::cx7
