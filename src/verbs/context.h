// SPDX-License-Identifier: Apache-2.0
// An opened device with its port, and the objects that need nothing else: protection domain, memory, memory region.
// Everything that works together must come from one Context: the firmware refuses foreign objects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "marrow/gda/handles.h"
#include "verbs/address.h"
#include "verbs/capabilities.h"
#include "verbs/handle.h"
#include "verbs/memory.h"

namespace marrow::verbs {

/// The one port that we use.
struct Port {
  std::uint8_t number = 1;
  LinkLayer link{};
  bool active = false;
  std::uint16_t lid = 0;
  Mtu mtu = Mtu::k1024;
  std::uint8_t gid_index = 0;  // on Ethernet a RoCE v2 entry
  Gid gid{};
};

class Context {
 public:
  /// Opens with DEVX. Throws util::Error: kUsage when there is no such device, kFailed when it is no mlx5 device, may
  /// not be opened, has no usable port or lacks what our queues need.
  explicit Context(const std::string& device_name);

  [[nodiscard]] static std::vector<std::string> device_names();

  [[nodiscard]] ibv_context* get() const { return handle_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Capabilities& capabilities() const { return capabilities_; }
  [[nodiscard]] const Port& port() const { return port_; }
  /// As the device tells it; empty when it does not.
  [[nodiscard]] std::string firmware() const;
  /// "0000:1a:00.0"; empty when the kernel shows none.
  [[nodiscard]] std::string pci_bus_id() const;

 private:
  std::string name_;
  ContextHandle handle_;
  Capabilities capabilities_;
  Port port_;
};

class Pd {
 public:
  explicit Pd(const Context& context);
  [[nodiscard]] ibv_pd* get() const { return handle_.get(); }
  [[nodiscard]] std::uint32_t number() const { return number_; }

 private:
  PdHandle handle_;
  std::uint32_t number_ = 0;
};

/// A registered buffer with all rights that one-sided traffic needs. The buffer must outlive it.
class Mr {
 public:
  static constexpr int kAllRights =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  /// By address, else as a DMA-BUF. Throws util::Error when the device takes neither.
  Mr(const Pd& pd, const Memory& buffer, int access = kAllRights);
  [[nodiscard]] gda::Local local() const;
  [[nodiscard]] gda::Remote remote() const;
  [[nodiscard]] Registration registration() const { return registration_; }

 private:
  MrHandle handle_;
  Registration registration_ = Registration::kAddress;
};

}  // namespace marrow::verbs
