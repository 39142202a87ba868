// SPDX-License-Identifier: Apache-2.0
// See capture.h. Facts: LRH, VCRC and which bits of the LRH count as ones in the ICRC [prm: IBA vol. 1, ch. 7]; that
// analysers do not check the VCRC [obs].
#include "cx7/fabric/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cx7/fabric/hosts.h"
#include "cx7/fabric/icrc.h"
#include "cx7/fabric/roce_format.h"
#include "cx7/fabric/udp_ports.h"
#include "marrow/wire/be.h"
#include "util/error.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;
constexpr std::size_t kMostFrame = kMaxPayload + 256;
constexpr std::uint32_t kLinkEthernet = 1;
constexpr std::uint32_t kLinkRecord = 197;  // extensible records, one of whose types is InfiniBand
constexpr std::uint32_t kLrhBytes = 8;

struct FileHeader {
  std::uint32_t magic = 0xa1b23c4d;  // times in nanoseconds
  std::uint16_t major = 2, minor = 4;
  std::uint32_t zone = 0, accuracy = 0;
  std::uint32_t longest = 65535;
  std::uint32_t link = 0;
};

struct RecordHeader {
  std::uint32_t seconds, nanoseconds, kept_bytes, bytes;
};

/// CRC-16 of the link, x^16 + x^12 + x^3 + x + 1, lowest bit first.
std::uint16_t variant_crc(std::span<const std::byte> bytes) {
  std::uint32_t state = 0xffff;
  for (const std::byte byte : bytes) {
    state ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0xd008u : 0);
  }
  return static_cast<std::uint16_t>(~state);
}

std::string with_process_number(std::string name) {
  if (const auto at = name.find("%p"); at != std::string::npos) name.replace(at, 2, std::to_string(::getpid()));
  return name;
}

/// BTH to pad, as they travel; empty for a packet that has no public form.
std::span<const std::byte> transport_bytes(const Packet& packet, std::span<std::byte> room) {
  const std::uint32_t headers = packet.dc ? 0 : write_headers(packet, room.data());
  if (headers == 0) return {};
  const std::uint32_t payload = packet.payload_bytes - grh_bytes(packet);
  std::memcpy(room.data() + headers, packet.payload() + grh_bytes(packet), payload);
  std::fill_n(room.begin() + headers + payload, pad_of(payload), std::byte{0});
  return room.first(headers + payload + pad_of(payload));
}

std::uint32_t crc_of_transport(std::uint32_t state, std::span<const std::byte> transport) {
  std::array<std::byte, kBthBytes> bth;
  std::copy_n(transport.begin(), kBthBytes, bth.begin());
  bth[kIcrcMaskedAt] = std::byte{0xff};
  return ~crc32_update(crc32_update(state, bth), transport.subspan(kBthBytes));
}

/// What stands before an InfiniBand packet: analysers know no link type of its own [obs: tshark 4.0].
struct ExtensibleRecord {
  std::uint32_t fraction = 0;  // of the second, in 2^-32
  std::uint32_t seconds = 0;
  std::uint8_t type = 21;  // InfiniBand
  std::uint8_t flags = 4;  // lengths vary
  wire::be16 record_bytes{0};
  std::uint16_t lost = 0;
  wire::be16 packet_bytes{0};
};
static_assert(sizeof(ExtensibleRecord) == 16);

struct EthernetAndIp {
  std::array<std::uint8_t, 12> macs{2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0};  // 02: given out locally
  wire::be16 type{0x0800};
};

}  // namespace

Capture::Capture(const CaptureOptions& options) : options_(options), buffer_(kBufferBytes) {
  options_.file = with_process_number(options_.file);
  file_.reset(::open(options_.file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file_) throw util::system_error(fmt::format("capture file {}", options_.file), errno);
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw util::Error(fmt::format("another process is writing the capture file {}", options_.file),
                      util::ErrorKind::kFailed, "a name with %p, which becomes the process's number");
  }
  if (::ftruncate(file_.get(), 0) != 0) throw util::system_error(fmt::format("capture file {}", options_.file), errno);
  const FileHeader header{.link = options_.infiniband ? kLinkRecord : kLinkEthernet};
  put(&header, sizeof header);
  flush();
}

void Capture::put(const void* bytes, std::size_t count) {
  std::memcpy(buffer_.data() + used_, bytes, count);
  used_ += count;
}

void Capture::flush() {
  for (std::size_t done = 0; done < used_;) {
    const ssize_t written = ::write(file_.get(), buffer_.data() + done, used_ - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      util::log::once("capture", "the capture {} is not complete: {}", options_.file, std::strerror(errno));
      break;
    }
    done += static_cast<std::size_t>(written);
  }
  used_ = 0;
}

timespec Capture::begin_record(std::size_t bytes) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto size = static_cast<std::uint32_t>(bytes);
  const RecordHeader header{static_cast<std::uint32_t>(now.tv_sec), static_cast<std::uint32_t>(now.tv_nsec), size,
                            size};
  put(&header, sizeof header);
  return now;
}

void Capture::add(const Packet& packet) {
  std::array<std::byte, kMostFrame> room;
  const auto transport = transport_bytes(packet, room);
  if (transport.empty()) {
    util::log::once("capture form", "left out of the capture: DC and masked atomics, which have no public form");
    return;
  }
  if (used_ + sizeof(RecordHeader) + kMostFrame > buffer_.size()) flush();
  options_.infiniband ? add_infiniband(packet, transport) : add_ethernet(packet, transport);
}

void Capture::add_infiniband(const Packet& packet, std::span<const std::byte> transport) {
  const std::span grh(packet.payload(), grh_bytes(packet));
  const std::size_t bytes = kLrhBytes + grh.size() + transport.size() + kIcrcBytes;
  std::array<std::uint8_t, kLrhBytes> lrh{};
  const auto put16 = [&lrh](std::size_t at, std::size_t value) {
    lrh[at] = static_cast<std::uint8_t>(value >> 8);
    lrh[at + 1] = static_cast<std::uint8_t>(value);
  };
  lrh[1] = static_cast<std::uint8_t>(packet.service_level << 4 | (grh.empty() ? 2 : 3));  // what comes next
  put16(2, options_.lids[packet.to_device & 1]);
  put16(4, bytes / 4);
  put16(6, options_.lids[packet.from_device & 1]);

  const auto packet_bytes = static_cast<std::uint16_t>(bytes + sizeof(std::uint16_t));
  const auto now = begin_record(sizeof(ExtensibleRecord) + packet_bytes);
  const ExtensibleRecord record{
      .fraction = static_cast<std::uint32_t>((static_cast<std::uint64_t>(now.tv_nsec) << 32) / 1'000'000'000),
      .seconds = static_cast<std::uint32_t>(now.tv_sec),
      .record_bytes = wire::be16(static_cast<std::uint16_t>(sizeof record + packet_bytes)),
      .packet_bytes = wire::be16(packet_bytes)};
  put(&record, sizeof record);
  const std::size_t from = used_;
  put(lrh.data(), lrh.size());
  put(grh.data(), grh.size());
  put(transport.data(), transport.size());
  lrh[0] |= 0xf0;
  auto crc = crc32_update(~0u, std::as_bytes(std::span(lrh)));
  if (!grh.empty()) {
    std::array<std::byte, kGrhBytes> masked;
    std::copy_n(grh.begin(), masked.size(), masked.begin());
    masked[0] |= std::byte{0x0f};  // traffic class, flow label
    std::fill_n(masked.begin() + 1, 3, std::byte{0xff});
    masked[7] = std::byte{0xff};  // hop limit
    crc = crc32_update(crc, masked);
  }
  crc = crc_of_transport(crc, transport);
  put(&crc, sizeof crc);
  const std::uint16_t vcrc = variant_crc(std::span(buffer_).subspan(from, used_ - from));
  put(&vcrc, sizeof vcrc);
}

std::uint32_t Capture::address_of(std::uint8_t device) const {
  return device < options_.addresses.size() ? options_.addresses[device] : address_of_host(device);
}

void Capture::add_ethernet(const Packet& packet, std::span<const std::byte> transport) {
  const std::uint32_t from = packet.from_host != 0 ? packet.from_host : address_of(packet.from_device);
  const std::uint32_t to = address_of(packet.to_device);
  const auto bytes = static_cast<std::uint32_t>(transport.size()) + kIcrcBytes;
  EthernetAndIp ethernet;
  const wire::be32 macs[] = {wire::be32(to), wire::be32(from)};
  std::memcpy(ethernet.macs.data() + 2, &macs[0], 4);
  std::memcpy(ethernet.macs.data() + 8, &macs[1], 4);
  std::array<std::byte, kIpBytes + kUdpBytes> headers;
  write_ip_and_udp({from, to, kRoceUdpPort, kRoceUdpPort}, bytes, headers);
  begin_record(sizeof ethernet + headers.size() + bytes);
  put(&ethernet, sizeof ethernet);
  put(headers.data(), headers.size());
  put(transport.data(), transport.size());
  const auto crc = crc_of_transport(crc32_of_headers({from, to, kRoceUdpPort, kRoceUdpPort}, bytes), transport);
  put(&crc, sizeof crc);
}

}  // namespace marrow::cx7
