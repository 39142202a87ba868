// SPDX-License-Identifier: Apache-2.0
// See key_layout.h. The keys behind an indirect one are looked at when bytes move, not when it is configured: one that
// goes takes its pieces along. That they must be of the same domain, and regions themselves, is a guess [guess].
#include "cx7/hca/key_layout.h"

#include <algorithm>
#include <cstring>

#include "cx7/hca/memory_key.h"
#include "marrow/wire/be.h"

namespace marrow::cx7 {
namespace {

struct ListEntry {
  wire::be32 byte_count;
  wire::be32 key;
  wire::be64 address;
};
struct RepeatBlock {
  wire::be32 byte_count;  // of a round
  wire::be32 operation;
  wire::be32 repeat_count;
  wire::be16 reserved;
  wire::be16 entries;
};
struct RepeatEntry {
  wire::be16 stride;
  wire::be16 byte_count;
  wire::be32 key;
  wire::be64 address;
};
static_assert(sizeof(ListEntry) == kOctowordBytes && sizeof(RepeatBlock) == kOctowordBytes &&
              sizeof(RepeatEntry) == kOctowordBytes);

constexpr std::uint32_t kRepeat = 0x400;  // where an entry of a list has its key

template <class Entry>
Entry entry_at(std::span<const std::byte> entries, std::size_t index) {
  Entry entry;
  std::memcpy(&entry, entries.data() + index * kOctowordBytes, sizeof entry);
  return entry;
}

}  // namespace

void KeyLayout::clear() {
  pieces_.clear();
  round_bytes_ = 0;
  rounds_ = 1;
}

void KeyLayout::add(const Entry& entry, std::uint64_t bytes) {
  if (bytes == 0) return;  // an entry that fills up the work request
  round_bytes_ += bytes;
  pieces_.push_back(entry);
  pieces_.back().end = round_bytes_;
}

bool KeyLayout::take(std::span<const std::byte> entries) {
  const auto count = entries.size() / kOctowordBytes;
  if (count == 0 || count > octowords_) return false;
  const auto block = entry_at<RepeatBlock>(entries, 0);
  const bool interleaved = block.operation.host() == kRepeat;
  if (interleaved && (block.entries.host() == 0 || block.entries.host() >= count)) return false;
  clear();
  if (!interleaved) {
    for (std::size_t k = 0; k < count; ++k) {
      const auto entry = entry_at<ListEntry>(entries, k);
      add({.va = entry.address.host(), .key = entry.key.host()}, entry.byte_count.host());
    }
    return true;
  }
  rounds_ = block.repeat_count.host();
  for (std::size_t k = 1; k <= block.entries.host(); ++k) {
    const auto entry = entry_at<RepeatEntry>(entries, k);
    add({.va = entry.address.host(), .key = entry.key.host(), .stride = entry.stride.host()}, entry.byte_count.host());
  }
  return true;
}

bool KeyLayout::take_fixed(std::span<const std::byte> entries, std::uint32_t bytes_each) {
  const auto count = entries.size() / kOctowordBytes;
  if (count == 0 || count > octowords_) return false;
  clear();
  for (std::size_t k = 0; k < count; ++k) {
    const auto entry = entry_at<ListEntry>(entries, k);
    add({.va = entry.address.host(), .key = entry.key.host()}, bytes_each);
  }
  return true;
}

KeyLayout::Stretch KeyLayout::at(std::uint64_t offset) const {
  if (round_bytes_ == 0 || offset / round_bytes_ >= rounds_) return {};
  const auto round = offset / round_bytes_;
  const auto within = offset % round_bytes_;
  const auto entry = std::upper_bound(pieces_.begin(), pieces_.end(), within,
                                      [](std::uint64_t value, const Entry& piece) { return value < piece.end; });
  const auto begin = entry == pieces_.begin() ? 0 : std::prev(entry)->end;
  return {entry->key, entry->va + round * entry->stride + (within - begin), entry->end - within};
}

Piece inner_piece(const Device& device, const Span& span, std::uint64_t offset, std::uint32_t most) {
  const Mkey* const outer = device.mkeys.find(span.key >> 8);
  const bool usable = outer != nullptr && outer->key == span.key && outer->kind == Mkey::Kind::kIndirect &&
                      !outer->free && holds(*outer, span.va + offset, most);
  if (!usable) return {};
  const auto stretch = outer->layout->at(span.va + offset - outer->iova);
  const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(stretch.bytes, most));
  if (bytes == 0) return {};
  const Span inner = resolve(
      device, {.key = stretch.key, .pdn = outer->pdn, .access = span.inner_access, .va = stretch.va, .bytes = bytes});
  return {inner.host, bytes};
}

}  // namespace marrow::cx7
