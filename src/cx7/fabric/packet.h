// SPDX-License-Identifier: Apache-2.0
// What travels between two devices (between stops 6 and 7): one packet of a transport, its headers decoded.
// A DC packet is the same between two more that open and close a connection; how those look on a wire is not public, so
// their form is ours [guess]. Facts: BTH, RETH, AtomicETH, AETH and opcode numbers [prm: IBA vol. 1, ch. 9]. On a link
// inside one host the headers are this struct; a link between hosts writes them as bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marrow::cx7 {

/// The upper three bits of a BTH opcode.
enum class Transport : std::uint8_t { kRc = 0, kUc = 1, kUd = 3, kXrc = 5, kDc = 6 };

/// BTH opcode: as the reliable connected transport has it; opcode_in() makes another transport's.
enum class PacketOpcode : std::uint8_t {
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImm = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImm = 0x05,
  kWriteFirst = 0x06,
  kWriteMiddle = 0x07,
  kWriteLast = 0x08,
  kWriteLastImm = 0x09,
  kWriteOnly = 0x0a,
  kWriteOnlyImm = 0x0b,
  kReadRequest = 0x0c,
  kReadResponseFirst = 0x0d,
  kReadResponseMiddle = 0x0e,
  kReadResponseLast = 0x0f,
  kReadResponseOnly = 0x10,
  kAcknowledge = 0x11,
  kAtomicAcknowledge = 0x12,
  kCompareSwap = 0x13,
  kFetchAdd = 0x14,
  kSendLastInvalidate = 0x16,
  kSendOnlyInvalidate = 0x17,
  kMaskedCompareSwap = 0x18,  // the vendor's own, not public [guess]; the masks are the payload
  kMaskedFetchAdd = 0x19,
  kUdSendOnly = 0x64,
  kUdSendOnlyImm = 0x65,
  kDcConnect = 0xc0,     // va: DC access key, rkey: the connection's number, psn: of the first request in it
  kDcDisconnect = 0xc1,  // rkey: the connection's number
};

constexpr Transport transport_of(PacketOpcode opcode) {
  return static_cast<Transport>(static_cast<std::uint8_t>(opcode) >> 5);
}
/// The lower five bits, as an opcode of RC: what the packet is about.
constexpr PacketOpcode operation_of(PacketOpcode opcode) {
  return static_cast<PacketOpcode>(static_cast<std::uint8_t>(opcode) & 0x1f);
}
constexpr PacketOpcode opcode_in(Transport transport, PacketOpcode operation) {
  return static_cast<PacketOpcode>(static_cast<std::uint8_t>(transport) << 5 | static_cast<std::uint8_t>(operation));
}

/// AETH syndrome: [6:5] kind, [4:0] value.
namespace aeth {
inline constexpr std::uint8_t kAck = 0x1f;  // without credit information
inline constexpr std::uint8_t kRnrNak = 0x20;
inline constexpr std::uint8_t kNakSequence = 0x60;
inline constexpr std::uint8_t kNakInvalidRequest = 0x61;
inline constexpr std::uint8_t kNakRemoteAccess = 0x62;
inline constexpr std::uint8_t kNakRemoteOperation = 0x63;
}  // namespace aeth

/// Headers of one packet; the payload stands right behind it in the ring. Where `grh` is set, the payload of a UD
/// packet begins with the 40 bytes that its receiver will see in its buffer: the GRH, or on RoCE v2 the IP header (an
/// IPv4 header in the second half).
struct alignas(64) Packet {
  std::uint32_t payload_bytes = 0;
  std::uint32_t dest_qpn = 0;
  std::uint32_t psn = 0;  // 24 bits
  PacketOpcode opcode{};
  bool ack_request = false;
  bool solicited = false;
  std::uint8_t syndrome = 0;    // AETH
  std::uint32_t msn = 0;        // AETH, 24 bits; in a request the sender's QPN (DETH), in one of XRC the SRQ (XRCETH)
  std::uint32_t imm = 0;        // as in memory: big-endian, never converted
  std::uint64_t va = 0;         // RETH, AtomicETH
  std::uint32_t rkey = 0;       // RETH, AtomicETH; IETH: key to invalidate; DETH: Q_Key
  std::uint32_t dma_bytes = 0;  // RETH: length of the whole message
  std::uint64_t swap_add = 0;   // AtomicETH; original value in an atomic acknowledge
  std::uint32_t compare_high = 0;  // AtomicETH, split to keep the struct at one cache line
  std::uint32_t compare_low = 0;
  std::uint8_t from_device = 0;  // stands for the source address (LID or GID); from kFirstHost on another host: hosts.h
  std::uint8_t to_device = 0;    // stands for the destination address
  bool dc : 1 = false;           // a request of the DC transport: for a DCT and for nobody else
  bool grh : 1 = false;          // of a UD packet
  std::uint8_t service_level = 0;
  std::uint32_t from_host = 0;  // IPv4 address, where another process of this host took the packet from the network

  [[nodiscard]] std::uint64_t compare() const { return std::uint64_t{compare_high} << 32 | compare_low; }
  [[nodiscard]] const std::byte* payload() const { return reinterpret_cast<const std::byte*>(this + 1); }
  [[nodiscard]] std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
};

static_assert(sizeof(Packet) == 64, "a packet without payload is one cache line");

inline constexpr std::uint32_t kMaxMtu = 4096;  // the largest path MTU
inline constexpr std::uint32_t kGrhBytes = 40;
inline constexpr std::uint32_t kMaxPayload = kMaxMtu + kGrhBytes;

/// Signed distance a - b of two packet sequence numbers.
constexpr std::int32_t psn_distance(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>((a - b) << 8) >> 8;
}
constexpr std::uint32_t psn_add(std::uint32_t psn, std::uint32_t n) {
  return (psn + n) & 0xffffff;
}

}  // namespace marrow::cx7
