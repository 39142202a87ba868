// SPDX-License-Identifier: Apache-2.0
// What the kernel keeps for one open file: the firmware's client, the objects behind handles, the event channels.
// Commands are free functions over it (device.cpp, memory.cpp, cq.cpp, qp.cpp, ...).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cx7/abi/objects.h"
#include "cx7/abi/refusal.h"

namespace marrow::cx7::abi {

/// As a sink it hears of its port.
class Context : private EventSink {
 public:
  Context(Engine& engine, std::uint8_t device, DevicePages& device_pages)
      : client(engine, engine.device(device)), pages(device_pages) {
    client.device.port_watchers.push_back(this);
  }
  ~Context() override {
    std::erase(client.device.port_watchers, static_cast<EventSink*>(this));
    close();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  fw::Client client;
  DevicePages& pages;
  bool open = false;  // GET_CONTEXT was done
  bool devx = false;  // ... and asked for DEVX

  /// The object behind a handle: ENOENT when there is none, EINVAL when it is of another kind.
  [[nodiscard]] Object& find(std::uint32_t handle, ObjectKind kind) const;
  template <class T>
  [[nodiscard]] T& find(std::uint32_t handle) const {
    return static_cast<T&>(find(handle, T::kKind));
  }
  /// A handle is taken before the reply is written and the object is added after: what fails in between is undone.
  [[nodiscard]] std::uint32_t next_handle() { return ++last_handle_; }
  void add(std::uint32_t handle, std::unique_ptr<Object> object) { objects_.emplace(handle, std::move(object)); }
  /// EBUSY when something needs the object.
  void remove(std::uint32_t handle, ObjectKind kind);

  std::shared_ptr<EventChannel> add_channel(std::size_t record_bytes);
  /// The channel that `fd` belongs to; EBADF when it is none of ours.
  [[nodiscard]] std::shared_ptr<EventChannel> channel_of(int fd) const;
  std::shared_ptr<EventChannel> default_async;

  /// Destroys everything, in an order in which nothing is busy.
  void close();

 private:
  void async_event(AsyncEvent event) override;

  std::unordered_map<std::uint32_t, std::unique_ptr<Object>> objects_;
  std::vector<std::shared_ptr<EventChannel>> channels_;
  std::uint32_t last_handle_ = 0;
};

}  // namespace marrow::cx7::abi
