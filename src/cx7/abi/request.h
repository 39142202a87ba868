// SPDX-License-Identifier: Apache-2.0
// One ioctl while it is worked on: attributes fetched, checked against the schema, and read or answered by number.
// Everything here throws Errno when the caller's request or memory is not as it must be.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "cx7/abi/refusal.h"
#include "cx7/abi/schema.h"

namespace marrow::cx7::abi {

class Request {
 public:
  /// Fetches `count` attributes at `attrs` (the caller's memory) and checks each against `method`.
  Request(const MethodSpec& method, ib_uverbs_attr* attrs, std::size_t count);

  [[nodiscard]] bool has(std::uint16_t id) const { return find(id) != nullptr; }
  [[nodiscard]] std::size_t bytes_of(std::uint16_t id) const;

  /// A number of up to 8 bytes, `fallback` when the attribute is not there.
  [[nodiscard]] std::uint64_t number(std::uint16_t id, std::uint64_t fallback = 0) const;
  [[nodiscard]] std::uint32_t number32(std::uint16_t id, std::uint32_t fallback = 0) const;
  [[nodiscard]] std::uint32_t handle(std::uint16_t id) const;
  [[nodiscard]] int fd(std::uint16_t id) const;
  [[nodiscard]] std::vector<std::byte> buffer(std::uint16_t id) const;

  /// A struct of the kernel's. A shorter one from an older library is filled up with zeros; what a longer one says
  /// beyond ours must be zero, else EOPNOTSUPP. A missing attribute reads as all zero.
  template <class T>
  [[nodiscard]] T in(std::uint16_t id) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    read(id, &value, sizeof value);
    return value;
  }

  /// Answers with min(caller's room, ours) bytes, the rest of the room zero. Nothing happens when it was not asked for.
  template <class T>
  void out(std::uint16_t id, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    write(id, &value, sizeof value);
  }
  void out_bytes(std::uint16_t id, std::span<const std::byte> bytes) { write(id, bytes.data(), bytes.size()); }

  void set_handle(std::uint16_t id, std::uint32_t handle) { set_data(id, handle); }
  void set_fd(std::uint16_t id, int fd) { set_data(id, static_cast<std::uint64_t>(static_cast<std::int64_t>(fd))); }

 private:
  struct Entry {
    ib_uverbs_attr attr{};
    ib_uverbs_attr* at = nullptr;  // in the caller's memory
    const AttrSpec* spec = nullptr;
  };
  void admit(const MethodSpec& method, const Entry& entry);
  [[nodiscard]] const Entry* find(std::uint16_t id) const;
  void read(std::uint16_t id, void* to, std::size_t bytes) const;
  void write(std::uint16_t id, const void* from, std::size_t bytes);
  void set_data(std::uint16_t id, std::uint64_t data);

  std::vector<Entry> entries_;
};

}  // namespace marrow::cx7::abi
