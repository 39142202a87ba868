// SPDX-License-Identifier: Apache-2.0
// The generic decoder: one loop for every method, driven by its table.
// Facts: errno of each kind of mistake [abi, as the kernel's uverbs_ioctl answers].
#include "cx7/abi/request.h"

#include <algorithm>
#include <cstring>

#include "cx7/hca/memory.h"
#include "util/log.h"

namespace marrow::cx7::abi {
namespace {

constexpr std::size_t kInlineBytes = sizeof(ib_uverbs_attr::data);

const AttrSpec* spec_of(const MethodSpec& method, std::uint16_t id) {
  const auto at =
      std::find_if(method.attrs.begin(), method.attrs.end(), [id](const AttrSpec& spec) { return spec.id == id; });
  return at == method.attrs.end() ? nullptr : &*at;
}

bool carries_bytes(AttrType type) {
  return type == AttrType::kIn || type == AttrType::kOut;
}

// The kernel's ABI carries pointers as numbers.
void* pointer_in(const ib_uverbs_attr& attr) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(attr.data));
}

}  // namespace

Request::Request(const MethodSpec& method, ib_uverbs_attr* attrs, std::size_t count) {
  entries_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Entry entry{.at = attrs + i};
    require(dma::copy(&entry.attr, entry.at, sizeof entry.attr), EFAULT);
    entry.spec = spec_of(method, entry.attr.attr_id);
    admit(method, entry);
  }
  for (const auto& spec : method.attrs) {
    require(spec.need == Need::kOptional || has(spec.id), EINVAL);
  }
}

void Request::admit(const MethodSpec& method, const Entry& entry) {
  const auto& attr = entry.attr;
  if (entry.spec == nullptr) {
    util::log::once(fmt::format("abi.attr.{}.{}", method.name, attr.attr_id),
                    "uverbs: {}: attribute {:#x} is not modelled", method.name, attr.attr_id);
    require((attr.flags & UVERBS_ATTR_F_MANDATORY) == 0, EPROTONOSUPPORT);
    return;  // the caller said that it can be ignored
  }
  require(!has(attr.attr_id), EINVAL);  // twice
  require(attr.attr_data.reserved == 0, EINVAL);
  if (carries_bytes(entry.spec->type)) {
    require(attr.len >= entry.spec->min_bytes, EINVAL);
  } else {
    require(attr.len == 0, EINVAL);
  }
  entries_.push_back(entry);
}

const Request::Entry* Request::find(std::uint16_t id) const {
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [id](const Entry& entry) { return entry.attr.attr_id == id; });
  return at == entries_.end() ? nullptr : &*at;
}

std::size_t Request::bytes_of(std::uint16_t id) const {
  const auto* const entry = find(id);
  return entry == nullptr ? 0 : entry->attr.len;
}

std::vector<std::byte> Request::buffer(std::uint16_t id) const {
  const auto* const entry = find(id);
  if (entry == nullptr) return {};
  std::vector<std::byte> bytes(entry->attr.len);
  if (bytes.empty()) return bytes;
  if (bytes.size() <= kInlineBytes) {
    std::memcpy(bytes.data(), &entry->attr.data, bytes.size());
  } else {
    require(dma::copy(bytes.data(), pointer_in(entry->attr), bytes.size()), EFAULT);
  }
  return bytes;
}

void Request::read(std::uint16_t id, void* to, std::size_t bytes) const {
  const auto given = buffer(id);
  const auto taken = std::min(bytes, given.size());
  if (taken != 0) std::memcpy(to, given.data(), taken);
  const bool rest_is_zero = std::all_of(given.begin() + static_cast<std::ptrdiff_t>(taken), given.end(),
                                        [](std::byte b) { return b == std::byte{0}; });
  require(rest_is_zero, EOPNOTSUPP);
}

std::uint64_t Request::number(std::uint16_t id, std::uint64_t fallback) const {
  if (!has(id)) return fallback;
  require(bytes_of(id) <= kInlineBytes, EINVAL);
  return in<std::uint64_t>(id);
}

std::uint32_t Request::number32(std::uint16_t id, std::uint32_t fallback) const {
  const auto value = number(id, fallback);
  require(value <= UINT32_MAX, EINVAL);
  return static_cast<std::uint32_t>(value);
}

std::uint32_t Request::handle(std::uint16_t id) const {
  const auto* const entry = find(id);
  require(entry != nullptr, EINVAL);
  require(entry->attr.data <= UINT32_MAX, ENOENT);
  return static_cast<std::uint32_t>(entry->attr.data);
}

int Request::fd(std::uint16_t id) const {
  const auto* const entry = find(id);
  require(entry != nullptr, EINVAL);
  require(entry->attr.data_s64 >= 0 && entry->attr.data_s64 <= INT32_MAX, EBADF);
  return static_cast<int>(entry->attr.data_s64);
}

void Request::write(std::uint16_t id, const void* from, std::size_t bytes) {
  const auto* const entry = find(id);
  if (entry == nullptr) return;
  auto* const to = static_cast<std::byte*>(pointer_in(entry->attr));
  const auto given = std::min<std::size_t>(bytes, entry->attr.len);
  require(dma::copy(to, from, given), EFAULT);
  const std::vector<std::byte> zeros(entry->attr.len - given);
  if (!zeros.empty()) require(dma::copy(to + given, zeros.data(), zeros.size()), EFAULT);
  const auto flags = static_cast<std::uint16_t>(entry->attr.flags | UVERBS_ATTR_F_VALID_OUTPUT);
  require(dma::copy(&entry->at->flags, &flags, sizeof flags), EFAULT);
}

void Request::set_data(std::uint16_t id, std::uint64_t data) {
  const auto* const entry = find(id);
  require(entry != nullptr, EINVAL);
  require(dma::copy(&entry->at->data, &data, sizeof data), EFAULT);
}

}  // namespace marrow::cx7::abi
