// SPDX-License-Identifier: Apache-2.0
// One device's place on the network: a plain UDP socket, on port 4791 unless another process of this host holds that.
// Packets then go out from another port, and come in through the holder.
#pragma once

#include <cstdint>
#include <optional>

#include "util/fd.h"

namespace marrow::cx7 {

class UdpSocket {
 public:
  /// Throws util::Error. Address in host byte order.
  explicit UdpSocket(std::uint32_t address);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::uint32_t address() const { return address_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Whether packets for this address come here.
  [[nodiscard]] bool receives() const { return receives_; }

  /// Takes the port if its holder is gone: a fresh descriptor then. False when nothing changed.
  bool try_to_receive();

 private:
  std::uint32_t address_;
  std::uint16_t port_ = 0;
  bool receives_ = false;
  util::UniqueFd fd_;
};

}  // namespace marrow::cx7
