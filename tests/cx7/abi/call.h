// SPDX-License-Identifier: Apache-2.0
// An ioctl of uverbs as libibverbs would build it: header and attributes in one buffer.
#pragma once

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "cx7/abi/file.h"

namespace marrow::cx7 {

class Call {
 public:
  Call(unsigned object, unsigned method)
      : object_(static_cast<std::uint16_t>(object)), method_(static_cast<std::uint16_t>(method)) {}

  /// Input of any type; 8 bytes and fewer go inline. The value must live until the call.
  template <class T>
  Call& in(unsigned id, const T& value) {
    return in_bytes(id, &value, sizeof value);
  }
  Call& in_bytes(unsigned id, const void* from, std::size_t bytes) {
    auto& attr = add(id, bytes);
    if (bytes <= sizeof attr.data) {
      std::memcpy(&attr.data, from, bytes);
    } else {
      attr.data = reinterpret_cast<std::uintptr_t>(from);
    }
    return *this;
  }
  template <class T>
  Call& out(unsigned id, T& value) {
    return out_bytes(id, &value, sizeof value);
  }
  Call& out_bytes(unsigned id, void* to, std::size_t bytes) {
    add(id, bytes).data = reinterpret_cast<std::uintptr_t>(to);
    return *this;
  }
  Call& handle(unsigned id, std::uint32_t value) {
    add(id, 0).data = value;
    return *this;
  }
  Call& fd(unsigned id, int value) {
    add(id, 0).data_s64 = value;
    return *this;
  }
  Call& optional() {
    attrs_.back().flags = 0;
    return *this;
  }
  Call& reserved(std::uint16_t value) {
    attrs_.back().attr_data.reserved = value;
    return *this;
  }

  /// 0 or -errno. What came back in data words can then be read.
  int operator()(File& file) {
    std::vector<std::byte> buffer(sizeof(ib_uverbs_ioctl_hdr) + attrs_.size() * sizeof(ib_uverbs_attr));
    auto* const header = reinterpret_cast<ib_uverbs_ioctl_hdr*>(buffer.data());
    header->length = static_cast<std::uint16_t>(buffer.size());
    header->object_id = object_;
    header->method_id = method_;
    header->num_attrs = static_cast<std::uint16_t>(attrs_.size());
    header->driver_id = RDMA_DRIVER_MLX5;
    std::copy(attrs_.begin(), attrs_.end(), header->attrs);
    const int result = file.ioctl(header);
    std::copy_n(header->attrs, attrs_.size(), attrs_.begin());
    return result;
  }
  [[nodiscard]] const ib_uverbs_attr& attr(unsigned id) const {
    for (const auto& attr : attrs_) {
      if (attr.attr_id == id) return attr;
    }
    return attrs_.front();
  }
  [[nodiscard]] std::uint32_t handle_of(unsigned id) const { return static_cast<std::uint32_t>(attr(id).data); }

 private:
  ib_uverbs_attr& add(unsigned id, std::size_t bytes) {
    auto& attr = attrs_.emplace_back();
    attr.attr_id = static_cast<std::uint16_t>(id);
    attr.len = static_cast<std::uint16_t>(bytes);
    attr.flags = UVERBS_ATTR_F_MANDATORY;
    return attr;
  }
  std::uint16_t object_;
  std::uint16_t method_;
  std::vector<ib_uverbs_attr> attrs_;
};

}  // namespace marrow::cx7
