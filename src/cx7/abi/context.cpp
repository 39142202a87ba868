// SPDX-License-Identifier: Apache-2.0
#include "cx7/abi/context.h"

#include <algorithm>
#include <span>

#include "cx7/fw/port.h"

namespace marrow::cx7::abi {

Object& Context::find(std::uint32_t handle, ObjectKind kind) const {
  const auto at = objects_.find(handle);
  require(at != objects_.end(), ENOENT);
  require(kind == ObjectKind::kAny || at->second->kind() == kind, EINVAL);
  return *at->second;
}

void Context::remove(std::uint32_t handle, ObjectKind kind) {
  require(!find(handle, kind).busy(), EBUSY);
  objects_.erase(handle);
}

std::shared_ptr<EventChannel> Context::add_channel(std::size_t record_bytes) {
  std::erase_if(channels_, [](const auto& channel) { return channel.use_count() == 1 && channel->abandoned(); });
  return channels_.emplace_back(std::make_shared<EventChannel>(record_bytes));
}

std::shared_ptr<EventChannel> Context::channel_of(int fd) const {
  const auto at =
      std::find_if(channels_.begin(), channels_.end(), [fd](const auto& channel) { return channel->is(fd); });
  require(at != channels_.end(), EBADF);
  return *at;
}

void Context::async_event(AsyncEvent event) {
  if (default_async == nullptr) return;
  const ib_uverbs_async_event_desc record{.element = kPorts, .event_type = static_cast<std::uint32_t>(event)};
  (void)default_async->post(std::as_bytes(std::span(&record, 1)));
}

void Context::close() {
  for (int rank = 0; rank < Object::kRanks; ++rank) {
    std::erase_if(objects_, [rank](const auto& entry) { return entry.second->rank() == rank; });
  }
}

}  // namespace marrow::cx7::abi
