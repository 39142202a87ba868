// SPDX-License-Identifier: Apache-2.0
// Packets as bytes: against bytes put together by hand, against packets that real NICs sent, and against damage.
#include "cx7/fabric/roce_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "cx7/fabric/icrc.h"

namespace marrow::cx7 {
namespace {

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits += c;
  }
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::vector<std::byte> written(const Packet& packet) {
  std::array<std::byte, kMostHeaderBytes> to{};
  const auto bytes = write_headers(packet, to.data());
  return {to.begin(), to.begin() + bytes};
}

Packet sample(PacketOpcode opcode) {
  Packet packet;
  packet.opcode = opcode;
  packet.dest_qpn = 0x000113;
  packet.psn = 0xabcdef;
  packet.ack_request = true;
  packet.msn = 0x000042;
  packet.va = 0x1122334455667788;
  packet.rkey = 0x99aabbcc;
  packet.dma_bytes = 0x01020304;
  packet.swap_add = 0xa1a2a3a4a5a6a7a8;
  packet.compare_high = 0xb1b2b3b4;
  packet.compare_low = 0xb5b6b7b8;
  packet.syndrome = 0x1f;
  std::memcpy(&packet.imm, "\xc1\xc2\xc3\xc4", 4);
  return packet;
}

TEST(RoceFormat, HasNoFormForWhatIsNotPublic) {
  for (const auto opcode :
       {PacketOpcode::kDcConnect, PacketOpcode::kDcDisconnect, PacketOpcode::kMaskedFetchAdd,
        opcode_in(Transport::kUc, PacketOpcode::kReadRequest), opcode_in(Transport::kUd, PacketOpcode::kSendFirst),
        static_cast<PacketOpcode>(0x15), static_cast<PacketOpcode>(0x40), static_cast<PacketOpcode>(0xff)}) {
    EXPECT_EQ(extension_bytes(opcode), std::nullopt) << static_cast<int>(opcode);
    EXPECT_TRUE(written(sample(opcode)).empty()) << static_cast<int>(opcode);
  }
}

struct Row {
  PacketOpcode opcode;
  std::string_view bytes;  // put together by hand from the specification's figures
};

TEST(RoceFormat, WritesTheBytesOfTheSpecification) {
  const std::vector<Row> rows = {
      {PacketOpcode::kSendOnly, "04 40 ffff 00 000113 80 abcdef"},
      {PacketOpcode::kSendLastImm, "03 40 ffff 00 000113 80 abcdef c1c2c3c4"},
      {PacketOpcode::kSendOnlyInvalidate, "17 40 ffff 00 000113 80 abcdef 99aabbcc"},
      {PacketOpcode::kWriteMiddle, "07 40 ffff 00 000113 80 abcdef"},
      {PacketOpcode::kWriteOnly, "0a 40 ffff 00 000113 80 abcdef 1122334455667788 99aabbcc 01020304"},
      {PacketOpcode::kWriteOnlyImm, "0b 40 ffff 00 000113 80 abcdef 1122334455667788 99aabbcc 01020304 c1c2c3c4"},
      {PacketOpcode::kReadRequest, "0c 40 ffff 00 000113 80 abcdef 1122334455667788 99aabbcc 01020304"},
      {PacketOpcode::kReadResponseOnly, "10 40 ffff 00 000113 80 abcdef 1f 000042"},
      {PacketOpcode::kReadResponseMiddle, "0e 40 ffff 00 000113 80 abcdef"},
      {PacketOpcode::kAcknowledge, "11 40 ffff 00 000113 80 abcdef 1f 000042"},
      {PacketOpcode::kAtomicAcknowledge, "12 40 ffff 00 000113 80 abcdef 1f 000042 a1a2a3a4a5a6a7a8"},
      {PacketOpcode::kCompareSwap,
       "13 40 ffff 00 000113 80 abcdef 1122334455667788 99aabbcc a1a2a3a4a5a6a7a8 b1b2b3b4b5b6b7b8"},
      {PacketOpcode::kUdSendOnlyImm, "65 40 ffff 00 000113 80 abcdef 99aabbcc 00 000042 c1c2c3c4"},
      {opcode_in(Transport::kUc, PacketOpcode::kWriteFirst),
       "26 40 ffff 00 000113 80 abcdef 1122334455667788 99aabbcc 01020304"},
      {opcode_in(Transport::kXrc, PacketOpcode::kSendOnly), "a4 40 ffff 00 000113 80 abcdef 00000042"},
  };
  for (const auto& row : rows) EXPECT_EQ(written(sample(row.opcode)), bytes_of(row.bytes)) << row.bytes;
}

TEST(RoceFormat, SaysPadAndFlagsInTheBth) {
  Packet packet = sample(PacketOpcode::kSendOnly);
  packet.payload_bytes = 5;
  packet.solicited = true;
  packet.ack_request = false;
  EXPECT_EQ(written(packet), bytes_of("04 f0 ffff 00 000113 00 abcdef"));
}

TEST(RoceFormat, ReadsWhatItWrites) {
  for (unsigned value = 0; value < 256; ++value) {
    const auto packet = sample(static_cast<PacketOpcode>(value));
    const auto bytes = written(packet);
    if (bytes.empty()) continue;
    Packet read;
    const auto shape = read_bth(bytes.data(), read);
    ASSERT_TRUE(shape) << value;
    EXPECT_EQ(shape->extension_bytes + kBthBytes, bytes.size()) << value;
    read_extensions(bytes.data() + kBthBytes, read);
    EXPECT_EQ(written(read), bytes) << value;
    EXPECT_EQ(read.dest_qpn, packet.dest_qpn);
    EXPECT_EQ(read.psn, packet.psn);
  }
}

TEST(RoceFormat, RefusesAnotherVersionAndAnotherPartition) {
  Packet read;
  EXPECT_TRUE(read_bth(bytes_of("04 40 ffff 00 000113 80 abcdef").data(), read));
  EXPECT_TRUE(read_bth(bytes_of("04 40 7fff 00 000113 80 abcdef").data(), read)) << "a limited member";
  EXPECT_FALSE(read_bth(bytes_of("04 41 ffff 00 000113 80 abcdef").data(), read));
  EXPECT_FALSE(read_bth(bytes_of("04 40 8001 00 000113 80 abcdef").data(), read));
}

TEST(RoceFormat, ADatagramShowsItsIpHeader) {
  alignas(64) std::array<std::byte, sizeof(Packet) + kGrhBytes + 64> room{};
  auto& packet = *new (room.data()) Packet;
  packet.opcode = PacketOpcode::kUdSendOnly;
  packet.payload_bytes = 8;
  packet.from_host = 0xc0a80001;
  write_ip_header(packet, 0xc0a800c7);
  // The well-known example of the IPv4 checksum, with our length and flags; the sum was made by hand.
  const std::vector<std::byte> header(packet.payload() + 20, packet.payload() + 40);
  EXPECT_EQ(header, bytes_of("4500 003c 0000 4000 4011 b898 c0a80001 c0a800c7"));
}

TEST(Icrc, IsTheCrcOfEthernet) {
  const std::string_view text = "123456789";  // the check value that every catalogue of CRCs gives
  EXPECT_EQ(~crc32_update(~0u, std::as_bytes(std::span(text))), 0xcbf43926u);
  const std::array<std::byte, 8> ones = [] {
    std::array<std::byte, 8> all;
    all.fill(std::byte{0xff});
    return all;
  }();
  EXPECT_EQ(crc32_update(~0u, ones), kCrcAfterOnes);
}

TEST(Icrc, OfAnyLengthIsThatOfSingleBytes) {
  std::vector<std::byte> data(4200);
  std::uint32_t seed = 1;
  for (auto& byte : data) byte = static_cast<std::byte>((seed = seed * 1664525 + 1013904223) >> 24);
  for (std::size_t bytes = 0; bytes < data.size(); bytes += bytes < 300 ? 1 : 97) {
    for (const std::size_t from : {std::size_t{0}, std::size_t{3}}) {
      if (from > bytes) continue;
      std::uint32_t one_by_one = 0x12345678;
      for (std::size_t i = from; i < bytes; ++i) one_by_one = crc32_update(one_by_one, std::span(data).subspan(i, 1));
      EXPECT_EQ(crc32_update(0x12345678, std::span(data).subspan(from, bytes - from)), one_by_one) << bytes;
    }
  }
}

/// A packet as it was on a wire: UDP payload with its ICRC, and what IP said.
struct Captured {
  const char* from_where;
  Ipv4Flow flow;
  std::uint16_t identification;
  std::string_view udp_payload;
};

const Captured kCaptured[] = {
    {"a congestion notification that a ConnectX-4 Lx sent",
     {0x0a001101, 0x0a001201, 0, 4791},
     0x718c,
     "8100ffff 40000118 00000000 00000000 00000000 00000000 00000000 82fd002a"},
    {"an unreliable send that a ConnectX-4 sent",
     {0xc0a80007, 0xc0a80007, 49152, 4791},
     1144,
     "24 60 ffff 00 0000d3 00 cf1710 4630818be28935d90e9a95505401be885e500000 78f353f3"},
};

std::uint32_t difference_of(const Captured& captured, std::vector<std::byte> bytes) {
  std::uint32_t said;
  std::memcpy(&said, bytes.data() + bytes.size() - 4, 4);
  bytes[kIcrcMaskedAt] = std::byte{0xff};
  const auto crc = crc32_of_headers(captured.flow, static_cast<std::uint32_t>(bytes.size()));
  return ~crc32_update(crc, std::span(bytes).first(bytes.size() - 4)) ^ said;
}

TEST(Icrc, OfRealPacketsNamesTheirIdentification) {
  for (const auto& captured : kCaptured) {
    const auto bytes = bytes_of(captured.udp_payload);
    const auto size = static_cast<std::uint32_t>(bytes.size());
    EXPECT_EQ(identification_behind(difference_of(captured, bytes), size), captured.identification)
        << captured.from_where;
  }
}

TEST(Icrc, NoIdentificationExplainsAFlippedBit) {
  const auto& captured = kCaptured[1];
  const auto good = bytes_of(captured.udp_payload);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    if (bit / 8 == kIcrcMaskedAt) continue;  // routers may change it
    auto bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    EXPECT_EQ(identification_behind(difference_of(captured, bad), static_cast<std::uint32_t>(bad.size())), std::nullopt)
        << bit;
  }
}

}  // namespace
}  // namespace marrow::cx7
