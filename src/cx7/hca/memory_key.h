// SPDX-License-Identifier: Apache-2.0
// The check that stands before every byte the device touches: key, protection domain, rights, range. And the way from
// what passed it to the bytes.
#pragma once

#include <algorithm>
#include <span>

#include "cx7/hca/engine.h"

namespace marrow::cx7 {

/// A range as a WQE or a packet names it, and what is to be done with it.
struct KeyedRange {
  std::uint32_t key = 0;
  std::uint32_t pdn = 0;
  std::uint32_t access = 0;  // rights that the key must give; 0: local read, which every key gives
  std::uint64_t va = 0;
  std::uint64_t bytes = 0;
  std::uint32_t qpn = 0;  // whose packet it is; 0: this side's own WQE
};

/// A window is for peers alone, and one of type 2 for those of one QP. An indirect key must show something.
inline bool serves(const Mkey& mkey, std::uint32_t qpn) {
  if (mkey.kind == Mkey::Kind::kIndirect) return !mkey.free;
  return qpn != 0 && (mkey.qpn == kAnyQp || mkey.qpn == qpn);
}

inline bool holds(const Mkey& mkey, std::uint64_t va, std::uint64_t bytes) {
  return va >= mkey.iova && bytes <= mkey.bytes && va - mkey.iova <= mkey.bytes - bytes;
}

/// The range, or a span that leads nowhere if the device must refuse it.
inline Span resolve(const Device& device, const KeyedRange& range) {
  const Mkey* mkey = device.mkeys.find(range.key >> 8);
  if (mkey == nullptr || mkey->key != range.key || mkey->pdn != range.pdn) return {};
  if ((mkey->access & range.access) != range.access) return {};
  if (mkey->kind != Mkey::Kind::kRegion && !serves(*mkey, range.qpn)) return {};
  if (!holds(*mkey, range.va, range.bytes)) return {};
  Span span{.va = range.va, .bytes = static_cast<std::uint32_t>(range.bytes), .key = range.key};
  if (mkey->kind == Mkey::Kind::kIndirect) [[unlikely]] {
    span.indirect = true;
    span.inner_access = (range.access & ~std::uint32_t{kRemoteRead}) != 0 ? kLocalWrite : 0u;
    return span;
  }
  span.host = mkey->host + (range.va - mkey->iova);
  return span;
}

/// Bytes that lie together.
struct Piece {
  std::byte* host = nullptr;  // null: the device must refuse it
  std::uint32_t bytes = 0;
};

/// The piece behind an indirect key that stands `offset` bytes into `span`, at most `most` bytes of it
/// (key_layout.cpp).
[[nodiscard]] Piece inner_piece(const Device& device, const Span& span, std::uint64_t offset, std::uint32_t most);

/// Calls `copy(host, at, bytes)` for each piece of [offset, offset + bytes) of the list, `at` counting from 0; ends at
/// the first false. A list shorter than the range ends early.
template <class Copy>
bool for_each_piece(const Device& device, std::span<const Span> list, std::uint32_t offset, std::uint32_t bytes,
                    Copy&& copy) {
  std::uint32_t at = 0;
  for (const auto& span : list) {
    if (at == bytes) break;
    if (offset >= span.bytes) {
      offset -= span.bytes;
      continue;
    }
    for (auto left = std::min(span.bytes - offset, bytes - at); left != 0;) {
      const Piece piece = span.indirect ? inner_piece(device, span, offset, left)
                                        : Piece{span.host == nullptr ? nullptr : span.host + offset, left};
      if (piece.host == nullptr || !copy(piece.host, at, piece.bytes)) return false;
      at += piece.bytes;
      offset += piece.bytes;
      left -= piece.bytes;
    }
    offset = 0;
  }
  return true;
}

/// What a requester hears of bytes that could not be reached: what is behind an indirect key may be refused, too.
inline std::uint8_t nak_of_memory(const Span& span) {
  return span && !span.indirect ? aeth::kNakRemoteOperation : aeth::kNakRemoteAccess;
}

/// Where all of `span` lies together, or null.
inline std::byte* in_one_piece(const Device& device, const Span& span) {
  if (!span.indirect) return span.host;
  const Piece piece = inner_piece(device, span, 0, span.bytes);
  return piece.bytes == span.bytes ? piece.host : nullptr;
}

}  // namespace marrow::cx7
