// SPDX-License-Identifier: Apache-2.0
// See roce_format.h. One table says which headers an operation has; each header is a list of fields.
#include "cx7/fabric/roce_format.h"

#include <array>
#include <cstring>

#include "marrow/wire/be.h"

namespace marrow::cx7 {
namespace {

/// Extension headers, in the order in which they stand on the wire.
enum Extension : std::uint8_t {
  kXrceth = 1u << 0,
  kDeth = 1u << 1,
  kReth = 1u << 2,
  kAtomicEth = 1u << 3,
  kAeth = 1u << 4,
  kAtomicAckEth = 1u << 5,
  kImmDt = 1u << 6,
  kIeth = 1u << 7,
};
constexpr std::array<std::uint8_t, 8> kBytes = {4, 8, 16, 28, 4, 8, 4, 4};  // of each, in that order
constexpr std::uint16_t kNoSuchPacket = 0x100;

/// By operation, the lower five bits of the opcode.
constexpr std::array<std::uint16_t, 32> kOfOperation = [] {
  std::array<std::uint16_t, 32> rows{};
  rows.fill(kNoSuchPacket);
  const auto set = [&rows](PacketOpcode operation, unsigned extensions) {
    rows[static_cast<std::uint8_t>(operation)] = static_cast<std::uint16_t>(extensions);
  };
  set(PacketOpcode::kSendFirst, 0);
  set(PacketOpcode::kSendMiddle, 0);
  set(PacketOpcode::kSendLast, 0);
  set(PacketOpcode::kSendLastImm, kImmDt);
  set(PacketOpcode::kSendOnly, 0);
  set(PacketOpcode::kSendOnlyImm, kImmDt);
  set(PacketOpcode::kWriteFirst, kReth);
  set(PacketOpcode::kWriteMiddle, 0);
  set(PacketOpcode::kWriteLast, 0);
  set(PacketOpcode::kWriteLastImm, kImmDt);
  set(PacketOpcode::kWriteOnly, kReth);
  set(PacketOpcode::kWriteOnlyImm, kReth | kImmDt);
  set(PacketOpcode::kReadRequest, kReth);
  set(PacketOpcode::kReadResponseFirst, kAeth);
  set(PacketOpcode::kReadResponseMiddle, 0);
  set(PacketOpcode::kReadResponseLast, kAeth);
  set(PacketOpcode::kReadResponseOnly, kAeth);
  set(PacketOpcode::kAcknowledge, kAeth);
  set(PacketOpcode::kAtomicAcknowledge, kAeth | kAtomicAckEth);
  set(PacketOpcode::kCompareSwap, kAtomicEth);
  set(PacketOpcode::kFetchAdd, kAtomicEth);
  set(PacketOpcode::kSendLastInvalidate, kIeth);
  set(PacketOpcode::kSendOnlyInvalidate, kIeth);
  return rows;
}();

constexpr bool is_request(PacketOpcode operation) {
  return operation < PacketOpcode::kReadResponseFirst || operation > PacketOpcode::kAtomicAcknowledge;
}

constexpr std::uint16_t extensions_of(PacketOpcode opcode) {
  const auto operation = operation_of(opcode);
  const auto row = kOfOperation[static_cast<std::uint8_t>(operation)];
  const bool send_only = operation == PacketOpcode::kSendOnly || operation == PacketOpcode::kSendOnlyImm;
  if (row == kNoSuchPacket) return row;
  switch (transport_of(opcode)) {
    case Transport::kRc:
      return row;
    case Transport::kUc:
      return operation <= PacketOpcode::kWriteOnlyImm ? row : kNoSuchPacket;
    case Transport::kUd:
      return send_only ? row | kDeth : kNoSuchPacket;
    case Transport::kXrc:
      return is_request(operation) ? row | kXrceth : row;
    case Transport::kDc:
      break;
  }
  return kNoSuchPacket;
}

constexpr std::uint32_t bytes_of(std::uint16_t extensions) {
  std::uint32_t bytes = 0;
  for (std::size_t k = 0; k < kBytes.size(); ++k) bytes += (extensions >> k & 1) != 0 ? kBytes[k] : 0;
  return bytes;
}

constexpr std::uint32_t kIcrcWords = 1;

/// Puts words one behind the other, big-endian.
struct Writer {
  std::byte* at;
  void word(std::uint32_t value) { put(wire::be32(value)); }
  void word64(std::uint64_t value) { put(wire::be64(value)); }
  template <class Raw>
  void put(const Raw& raw) {
    std::memcpy(at, &raw, sizeof raw);
    at += sizeof raw;
  }
};

struct Reader {
  const std::byte* at;
  std::uint32_t word() { return take<wire::be32>().host(); }
  std::uint64_t word64() { return take<wire::be64>().host(); }
  template <class Raw>
  Raw take() {
    Raw raw;
    std::memcpy(&raw, at, sizeof raw);
    at += sizeof raw;
    return raw;
  }
};

constexpr std::uint32_t kMask24 = 0xffffff;
constexpr std::uint32_t kMigrated = 1u << 22;  // MigReq: a path that does not migrate is in its migrated state

}  // namespace

const std::array<std::uint8_t, 256> kHeaderWords = [] {
  std::array<std::uint8_t, 256> words{};
  for (std::size_t opcode = 0; opcode < words.size(); ++opcode) {
    const auto extensions = extensions_of(static_cast<PacketOpcode>(opcode));
    const auto bytes = kBthBytes + (extensions == kNoSuchPacket ? 0 : bytes_of(extensions));
    words[opcode] = static_cast<std::uint8_t>(bytes / 4 + kIcrcWords);
  }
  return words;
}();

std::optional<std::uint32_t> extension_bytes(PacketOpcode opcode) {
  const auto extensions = extensions_of(opcode);
  if (extensions == kNoSuchPacket) return std::nullopt;
  return bytes_of(extensions);
}

std::uint32_t write_headers(const Packet& packet, std::byte* to) {
  const auto extensions = extensions_of(packet.opcode);
  if (extensions == kNoSuchPacket) return 0;
  const std::uint32_t solicited = packet.solicited ? 1u << 23 : 0;
  const std::uint32_t pad = pad_of(packet.payload_bytes - grh_bytes(packet)) << 20;
  Writer out{to};
  out.word(std::uint32_t{static_cast<std::uint8_t>(packet.opcode)} << 24 | solicited | kMigrated | pad | kDefaultPkey);
  out.word(packet.dest_qpn & kMask24);
  out.word((packet.ack_request ? 1u << 31 : 0) | (packet.psn & kMask24));
  if (extensions & kXrceth) out.word(packet.msn & kMask24);
  if (extensions & kDeth) {
    out.word(packet.rkey);
    out.word(packet.msn & kMask24);
  }
  if (extensions & (kReth | kAtomicEth)) {
    out.word64(packet.va);
    out.word(packet.rkey);
  }
  if (extensions & kReth) out.word(packet.dma_bytes);
  if (extensions & kAtomicEth) {
    out.word64(packet.swap_add);
    out.word64(packet.compare());
  }
  if (extensions & kAeth) out.word(std::uint32_t{packet.syndrome} << 24 | (packet.msn & kMask24));
  if (extensions & kAtomicAckEth) out.word64(packet.swap_add);
  if (extensions & kImmDt) out.put(packet.imm);
  if (extensions & kIeth) out.word(packet.rkey);
  return static_cast<std::uint32_t>(out.at - to);
}

void write_ip_and_udp(const Ipv4Flow& flow, std::uint32_t udp_payload_bytes, std::span<std::byte> to) {
  constexpr std::size_t kChecksumAt = 10;
  Writer out{to.data()};
  out.word(0x45000000u | (kIpBytes + kUdpBytes + udp_payload_bytes));
  out.word(0x00004000u);  // identification 0, don't fragment
  out.word(0x40110000u);  // TTL 64, UDP
  out.word(flow.from);
  out.word(flow.to);
  out.word(std::uint32_t{flow.from_port} << 16 | flow.to_port);
  out.word((kUdpBytes + udp_payload_bytes) << 16);  // no UDP checksum
  std::uint32_t sum = 0;
  for (Reader in{to.data()}; in.at != to.data() + kIpBytes;) sum += in.take<wire::be16>().host();
  sum = (sum & 0xffff) + (sum >> 16);
  const wire::be16 checksum(static_cast<std::uint16_t>(~(sum + (sum >> 16))));
  std::memcpy(to.data() + kChecksumAt, &checksum, sizeof checksum);
}

void write_ip_header(Packet& packet, std::uint32_t to) {
  const auto bytes = kBthBytes + extension_bytes(packet.opcode).value_or(0) + packet.payload_bytes +
                     pad_of(packet.payload_bytes) + kIcrcBytes;
  std::array<std::byte, kIpBytes + kUdpBytes> headers;
  write_ip_and_udp({packet.from_host, to, 0, 0}, bytes, headers);
  std::memset(packet.payload(), 0, kGrhBytes);
  std::memcpy(packet.payload() + kGrhBytes - kIpBytes, headers.data(), kIpBytes);
}

std::optional<WireShape> read_bth(const std::byte* bth, Packet& packet) {
  Reader in{bth};
  const auto first = in.word();
  packet.opcode = static_cast<PacketOpcode>(first >> 24);
  packet.solicited = (first >> 23 & 1) != 0;
  packet.dest_qpn = in.word() & kMask24;
  const auto third = in.word();
  packet.ack_request = third >> 31 != 0;
  packet.psn = third & kMask24;
  const bool known_version = (first >> 16 & 0xf) == 0;
  const bool same_partition = ((first ^ kDefaultPkey) & 0x7fff) == 0;  // bit 15 says full or limited member
  const auto extensions = extension_bytes(packet.opcode);
  if (!known_version || !same_partition || !extensions) return std::nullopt;
  return WireShape{*extensions, first >> 20 & 3};
}

void read_extensions(const std::byte* extensions, Packet& packet) {
  const auto which = extensions_of(packet.opcode);
  Reader in{extensions};
  if (which & kXrceth) packet.msn = in.word() & kMask24;
  if (which & kDeth) {
    packet.rkey = in.word();
    packet.msn = in.word() & kMask24;
  }
  if (which & (kReth | kAtomicEth)) {
    packet.va = in.word64();
    packet.rkey = in.word();
  }
  if (which & kReth) packet.dma_bytes = in.word();
  if (which & kAtomicEth) {
    packet.swap_add = in.word64();
    packet.compare_high = in.word();
    packet.compare_low = in.word();
  }
  if (which & kAeth) {
    const auto word = in.word();
    packet.syndrome = static_cast<std::uint8_t>(word >> 24);
    packet.msn = word & kMask24;
  }
  if (which & kAtomicAckEth) packet.swap_add = in.word64();
  if (which & kImmDt) packet.imm = in.take<std::uint32_t>();
  if (which & kIeth) packet.rkey = in.word();
}

}  // namespace marrow::cx7
