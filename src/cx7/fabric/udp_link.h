// SPDX-License-Identifier: Apache-2.0
// The link to other hosts: packets as RoCE v2 over plain UDP sockets. A packet is built where it will be sent from, and
// many go out, or come in, with one system call.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cx7/fabric/link_counters.h"
#include "cx7/fabric/packet.h"
#include "cx7/fabric/roce_format.h"
#include "cx7/fabric/udp_socket.h"

namespace marrow::cx7 {

/// Only the engine thread calls this; after fork() the child may only destroy it.
class UdpLink {
 public:
  /// Addresses of device 0, 1. Throws util::Error.
  UdpLink(std::span<const std::uint32_t> addresses, LinkCounters& counters);
  ~UdpLink();
  UdpLink(const UdpLink&) = delete;
  UdpLink& operator=(const UdpLink&) = delete;

  /// A fresh packet to the host with that number, or null: the system takes no more at the moment.
  [[nodiscard]] Packet* reserve(std::uint8_t host);
  /// The reserved packet is complete; it goes out with the next flush().
  void commit();
  /// Hands what is committed to the system, as far as it takes it.
  void flush();
  [[nodiscard]] bool has_unsent() const { return tail_ != head_; }

  /// The next packets that arrived, at most `most`; valid until the next call.
  [[nodiscard]] std::span<Packet* const> receive(unsigned most);

  /// Takes over the port of a process that is gone. Call every millisecond or so; seldom a system call.
  void maintain(std::chrono::nanoseconds now);
  /// Readable when there is something to receive, or room to send again.
  [[nodiscard]] int fd() const { return events_.get(); }

 private:
  static constexpr std::uint32_t kSlots = 128;  // a power of two
  static constexpr std::uint32_t kBatch = 64;   // messages of one system call
  struct Outgoing;
  struct Incoming;

  std::uint32_t send_run(std::uint32_t at, std::uint32_t most);
  bool parse(Incoming& slot, const mmsghdr& message, std::uint8_t device);
  bool is_sound(const Incoming& slot, std::uint32_t bytes, std::uint8_t device);
  void want_room(bool wanted);
  void watch(const UdpSocket& socket, std::uint32_t events);

  LinkCounters& counters_;
  std::vector<UdpSocket> sockets_;  // by device
  util::UniqueFd events_;           // epoll of all sockets
  bool wants_room_ = false;
  std::chrono::nanoseconds next_try_{0};

  std::unique_ptr<Outgoing[]> outgoing_;
  std::array<mmsghdr, kSlots> sending_{};
  std::uint32_t head_ = 0;  // committed up to here, free-running
  std::uint32_t tail_ = 0;  // sent up to here

  std::unique_ptr<Incoming[]> incoming_;
  std::array<mmsghdr, kBatch> receiving_{};
  std::array<Packet*, kBatch> arrived_{};
  std::size_t next_device_ = 0;                    // whose socket is looked at next
  std::array<std::uint8_t, 256> plain_senders_{};  // by host: how many packets in a row had identification 0
};

}  // namespace marrow::cx7
