// SPDX-License-Identifier: Apache-2.0
// What a process sends and receives, as a file that packet analysers read: MARROW_SIM_PCAP=FILE, on any link. Packets
// of rings never had the form of bytes; they are written as they would look on InfiniBand or on RoCE v2. Facts: pcap
// file format with nanoseconds; link types 1 (Ethernet) and 197 (extensible
// records, for InfiniBand).
#pragma once

#include <time.h>

#include <cstdint>
#include <span>
#include <vector>

#include "cx7/fabric/link_options.h"
#include "cx7/fabric/packet.h"
#include "util/fd.h"

namespace marrow::cx7 {

class Capture {
 public:
  /// Throws util::Error where the file cannot be written, or another process is writing it.
  explicit Capture(const CaptureOptions& options);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void add(const Packet& packet);
  /// Writes what was added. Any number of packets for one system call.
  void flush();

 private:
  void put(const void* bytes, std::size_t count);
  void add_infiniband(const Packet& packet, std::span<const std::byte> transport);
  void add_ethernet(const Packet& packet, std::span<const std::byte> transport);
  [[nodiscard]] std::uint32_t address_of(std::uint8_t device) const;
  timespec begin_record(std::size_t bytes);

  CaptureOptions options_;
  util::UniqueFd file_;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
};

}  // namespace marrow::cx7
