// SPDX-License-Identifier: Apache-2.0
// A capture's bytes, as the specification has them; what tshark makes of it is tests/cx7/links' business.
#include "cx7/fabric/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "cx7/fabric/fabric.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

std::string fresh_name() {
  static int count = 0;
  return "capture-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

std::string contents(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

struct OwnFile {
  ~OwnFile() { std::remove(name.c_str()); }
  std::string name = fresh_name();
};

Packet acknowledge() {
  return {.dest_qpn = 0x41,
          .psn = 0x123456,
          .opcode = PacketOpcode::kAcknowledge,
          .syndrome = 0x1f,
          .msn = 7,
          .from_device = 0,
          .to_device = 1};
}

constexpr std::size_t kFileHeader = 24;
constexpr std::size_t kRecordHeader = 16;
constexpr std::size_t kExtensible = 16;

TEST(Capture, RefusesAFileThatCannotBeOrThatAnotherWrites) {
  EXPECT_THROW(Capture({.file = "/nowhere/capture"}), util::Error);
  const OwnFile file;
  const Capture first({.file = file.name});
  EXPECT_THROW(Capture({.file = file.name}), util::Error);
}

TEST(Capture, WritesInfiniBandPackets) {
  const OwnFile file;
  Capture capture({.file = file.name, .infiniband = true, .lids = {1, 2}});
  capture.add(acknowledge());
  capture.flush();
  const auto bytes = contents(file.name);
  ASSERT_EQ(bytes.size(), kFileHeader + kRecordHeader + kExtensible + 8 + 16 + 4 + 2);
  EXPECT_EQ(hex(bytes.substr(0, 4)), "4d3cb2a1") << "nanoseconds, little-endian";
  EXPECT_EQ(bytes[20], static_cast<char>(197));
  EXPECT_EQ(hex(bytes.substr(kFileHeader + kRecordHeader + 8, 8)), "1504002e0000001e");
  // LRH: VL 0, next header BTH, to LID 2, 7 words up to the VCRC, from LID 1; BTH; AETH.
  EXPECT_EQ(hex(bytes.substr(kFileHeader + kRecordHeader + kExtensible, 24)),
            "0002000200070001"
            "1140ffff00000041"
            "00123456"
            "1f000007");
}

TEST(Capture, WritesRoceFrames) {
  const OwnFile file;
  Capture capture({.file = file.name, .addresses = {0xc6120001, 0xc6120002}});
  capture.add(acknowledge());
  capture.flush();
  const auto bytes = contents(file.name);
  ASSERT_EQ(bytes.size(), kFileHeader + kRecordHeader + 14 + 28 + 16 + 4);
  EXPECT_EQ(bytes[20], 1);
  const auto frame = hex(bytes.substr(kFileHeader + kRecordHeader));
  EXPECT_EQ(frame.substr(0, 28), "0200c61200020200c61200010800");
  EXPECT_EQ(frame.substr(28, 20), "45000030000040004011");
  EXPECT_EQ(frame.substr(52, 16), "c6120001c6120002");
  EXPECT_EQ(frame.substr(68, 16), "12b712b7001c0000");
}

TEST(Capture, LeavesOutWhatHasNoForm) {
  const OwnFile file;
  Capture capture({.file = file.name});
  Packet packet = acknowledge();
  packet.opcode = PacketOpcode::kDcConnect;
  capture.add(packet);
  capture.flush();
  EXPECT_EQ(contents(file.name).size(), kFileHeader);
}

TEST(Capture, HasWhatALinkCarriesOnce) {
  const OwnFile file;
  const std::string domain = "capture" + std::to_string(::getpid());
  Fabric a(domain, {.capture = {.file = file.name, .infiniband = true}});
  Fabric b(domain);
  const auto send = [](Fabric& from, unsigned to) {
    const auto room = from.reserve(to, 0);
    ASSERT_EQ(room.state, Reservation::State::kRoom);
    *room.packet = acknowledge();
    from.commit(to);
  };
  send(a, a.slot());  // inside the process
  send(a, b.slot());
  send(b, a.slot());
  a.maintain();
  EXPECT_EQ(a.deliver(100, {}, [](const Packet&) {}), 2u);
  a.flush_capture();
  EXPECT_EQ(contents(file.name).size(), kFileHeader + 3 * (kRecordHeader + kExtensible + 30));
}

}  // namespace
}  // namespace marrow::cx7
