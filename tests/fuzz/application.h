// SPDX-License-Identifier: Apache-2.0
// The memory of an application that means no good, at a low address that every word of an input can name. The device
// may touch it and nothing else: behind it nothing is mapped, and what lies elsewhere in this process counts as not
// mapped (mincore() in ioctl_fuzz.cpp). Calls on the device are built in it, and spoiled there.
#pragma once

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "fuzz/input.h"

namespace marrow::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// One range at a fixed place, and what stands where in it.
struct Application {
  static constexpr std::uintptr_t kAt = 0x1000'0000;  // below every sanitizer's shadow and every library
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kQueues = 0x00000;   // of the verbs: CQ, QP, SRQ
  static constexpr std::size_t kUmem = 0x08000;     // of DEVX: CQ, QP, dbrecs
  static constexpr std::size_t kRecords = 0x10000;  // doorbell records of the verbs
  static constexpr std::size_t kPayload = 0x11000;
  static constexpr std::size_t kCall = 0x14000;  // header and attributes
  static constexpr std::size_t kArguments = 0x15000;
  static constexpr std::size_t kBytes = 0x18000;

  static std::byte* at(std::size_t offset) {
    return reinterpret_cast<std::byte*>(kAt + offset);  // NOLINT(performance-no-int-to-ptr): that is its place
  }
  static std::span<std::byte> all() { return {at(0), kBytes}; }

  static void make() {
    void* const got = ::mmap(at(0), kBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);
    require(got == at(0));
  }
  /// The application changes its mind about a page, as far as the calls' own memory.
  static void protect(std::size_t page, int rights) {
    if ((page + 1) * kPage <= kCall) require(::mprotect(at(page * kPage), kPage, rights) == 0);
  }
  static void reset(bool rights_too) {
    if (rights_too) require(::mprotect(at(0), kBytes, PROT_READ | PROT_WRITE) == 0);
    std::ranges::fill(all(), std::byte{});
  }
  [[nodiscard]] static bool has(std::uintptr_t from, std::size_t bytes) {
    return from >= kAt && bytes <= kBytes && from - kAt <= kBytes - bytes;
  }
};

/// One ioctl: built soundly, then altered as the input says.
class Call {
 public:
  static constexpr std::size_t kMostAttrs = 24;

  Call(unsigned object, unsigned method) {
    header().object_id = static_cast<std::uint16_t>(object);
    header().method_id = static_cast<std::uint16_t>(method);
    header().driver_id = RDMA_DRIVER_MLX5;
    header().reserved1 = 0;
    header().reserved2 = 0;
  }

  template <class T>
  Call& in(unsigned id, const T& value) {
    return in_bytes(id, std::as_bytes(std::span(&value, 1)));
  }
  Call& in_bytes(unsigned id, std::span<const std::byte> bytes) {
    auto& attr = add(id, bytes.size());
    std::byte* const kept = take(bytes.size());
    if (kept == nullptr) return *this;
    std::ranges::copy(bytes, kept);
    attr.data = reinterpret_cast<std::uintptr_t>(kept);
    if (bytes.size() <= sizeof attr.data) {
      attr.data = 0;
      std::memcpy(&attr.data, bytes.data(), bytes.size());
    }
    return *this;
  }
  /// Where the answer will stand.
  std::byte* out(unsigned id, std::size_t bytes) {
    auto& attr = add(id, bytes);
    std::byte* const room = take(bytes);
    attr.data = reinterpret_cast<std::uintptr_t>(room);
    return room;
  }
  Call& word(unsigned id, std::uint64_t value) {
    add(id, 0).data = value;
    return *this;
  }
  [[nodiscard]] std::uint64_t word_of(std::size_t index) const { return attrs()[index].data; }

  /// Up to three changes of attributes, arguments and header, and what is given twice or not at all.
  void spoil(Input& input) {
    const unsigned how = input.word<std::uint8_t>();
    for (unsigned k = 0; k < (how & 3); ++k) spoil_once(input);
    if ((how & 4) != 0 && count_ != 0) --count_;
    if ((how & 8) != 0 && count_ != 0) add(attrs()[0].attr_id, attrs()[0].len).data = attrs()[0].data;
    header().num_attrs = static_cast<std::uint16_t>(count_);
    header().length = static_cast<std::uint16_t>(sizeof(ib_uverbs_ioctl_hdr) + count_ * sizeof(ib_uverbs_attr));
    if ((how & 0xf0) != 0xf0) return;
    auto* const bytes = reinterpret_cast<std::byte*>(&header());
    bytes[input.word<std::uint8_t>() % sizeof(ib_uverbs_ioctl_hdr)] ^= input.word<std::byte>();
  }

  [[nodiscard]] static ib_uverbs_ioctl_hdr& header() {
    return *reinterpret_cast<ib_uverbs_ioctl_hdr*>(Application::at(Application::kCall));
  }
  [[nodiscard]] static ib_uverbs_attr* attrs() { return header().attrs; }

 private:
  static std::byte* room_at(std::size_t used) { return Application::at(Application::kArguments + used); }

  ib_uverbs_attr& add(unsigned id, std::size_t bytes) {
    if (count_ == kMostAttrs) --count_;
    auto& attr = attrs()[count_++];
    attr = {};
    attr.attr_id = static_cast<std::uint16_t>(id);
    attr.len = static_cast<std::uint16_t>(bytes);
    attr.flags = UVERBS_ATTR_F_MANDATORY;
    return attr;
  }
  /// Null when the call has had as much as there is.
  std::byte* take(std::size_t bytes) {
    const auto rounded = (bytes + 15) & ~std::size_t{15};
    if (Application::kArguments + used_ + rounded > Application::kBytes) return nullptr;
    std::byte* const room = room_at(used_);
    used_ += rounded;
    return room;
  }
  void spoil_once(Input& input) {
    const auto what = input.word<std::uint8_t>() % 8;
    if (what >= 5 && used_ != 0) {
      room_at(0)[input.word<std::uint16_t>() % used_] ^= input.word<std::byte>();
      return;
    }
    if (count_ == 0) return;
    auto& attr = attrs()[input.word<std::uint8_t>() % count_];
    if (what == 0) attr.attr_id = input.word<std::uint16_t>();
    if (what == 1) attr.len = input.word<std::uint16_t>();
    if (what == 2) attr.flags = input.word<std::uint16_t>();
    if (what == 3) attr.data = input.word<std::uint64_t>();
    if (what == 4) attr.attr_data.reserved = input.word<std::uint16_t>();
  }

  std::size_t count_ = 0;
  std::size_t used_ = 0;
};

}  // namespace marrow::fuzz
