// SPDX-License-Identifier: Apache-2.0
// What the device counts of what it sends, receives and refuses, to the packet and the word. Sizes on the wire by hand
// from [prm: IBA vol. 1, ch. 9]: BTH 3 words, RETH 4, AtomicETH 7, AETH 1, AtomicAckETH 2, ICRC 1.
#include <gmock/gmock.h>

#include "cx7/fabric/roce_format.h"
#include "two_sides.h"

namespace marrow::cx7::test {
namespace {

TEST(Counters, AnErrorOfTheFarKeyIsCountedOnBothSides) {
  TwoSides nic;
  auto wrong = nic.b.remote();
  wrong.rkey ^= 1;
  nic.a.put(wire::write_wqe(nic.a.next(), wrong, nic.a.local(), 8));
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 8));
  nic.a.announce();
  nic.run();
  const Counters& near = nic.a.device.counters;
  const Counters& far = nic.b.device.counters;
  EXPECT_EQ(near.remote_access_errors, 1u);
  EXPECT_EQ(near.send_error_cqes, 2u);
  EXPECT_EQ(near.send_flush_cqes, 1u);
  EXPECT_EQ(far.access_errors_found, 1u);
  EXPECT_EQ(far.write_requests, 1u) << "what follows a refused request is no request";
  EXPECT_EQ(far.remote_access_errors, 0u);
}

TEST(Counters, AReceiveThatIsTooShortIsCountedAsSuch) {
  TwoSides nic;
  nic.b.post_recv(0, 8);
  nic.a.put(wire::send_wqe(nic.a.next(), nic.a.local(), 16));
  nic.a.announce();
  nic.run();
  EXPECT_EQ(nic.b.device.counters.receives_too_short, 1u);
  EXPECT_EQ(nic.b.device.counters.receive_error_cqes, 1u);
  EXPECT_EQ(nic.b.device.counters.receive_flush_cqes, 0u);
  EXPECT_EQ(nic.a.device.counters.remote_invalid_requests, 1u);
}

TEST(Counters, AReceiverThatIsNotReadyIsCountedByTheSender) {
  TwoSides nic;
  nic.a.put(wire::send_wqe(nic.a.next(), nic.a.local(), 16));
  nic.a.announce();
  nic.run();
  EXPECT_GE(nic.a.device.counters.rnr_naks_received, 1u);
  EXPECT_EQ(nic.a.device.counters.rnr_naks_received, nic.b.device.counters.rnr_naks_sent);
}

TEST(Counters, AWriteOfThreePacketsToTheWord) {
  TwoSides nic;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 2050));
  nic.a.announce();
  nic.run();
  const Counters& near = nic.a.device.counters;
  const Counters& far = nic.b.device.counters;
  EXPECT_EQ(near.packets_sent, 3u);
  EXPECT_EQ(near.words_sent, (3u + 4 + 256 + 1) + (3 + 256 + 1) + (3 + 1 + 1)) << "2 bytes and their pad are a word";
  EXPECT_EQ(far.words_received, near.words_sent);
  EXPECT_EQ(far.words_sent, far.packets_sent * (3 + 1 + 1)) << "acknowledgements";
  EXPECT_EQ(far.write_requests, 1u);
}

TEST(Counters, ReadsAndAtomicsToTheWord) {
  TwoSides nic;
  nic.a.put(wire::write_wqe(nic.a.next(), nic.b.remote(), nic.a.local(), 1500, wire::Opcode::kRead));
  nic.a.put(wire::atomic_wqe(nic.a.next(), nic.b.remote(8192), nic.a.local(8192), {.swap_add = 1}));
  nic.a.announce();
  nic.run();
  const Counters& far = nic.b.device.counters;
  EXPECT_EQ(far.read_requests, 1u);
  EXPECT_EQ(far.atomic_requests, 1u);
  EXPECT_EQ(far.words_received, (3u + 4 + 1) + (3 + 7 + 1));
  EXPECT_EQ(far.words_sent, (3u + 1 + 256 + 1) + (3 + 1 + 119 + 1) + (3 + 1 + 2 + 1));
}

TEST(Counters, HeadersOfEveryOpcodeAreThoseThatAreWritten) {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const auto extensions = extension_bytes(static_cast<PacketOpcode>(opcode));
    EXPECT_EQ(kHeaderWords.at(opcode) * 4u, kBthBytes + extensions.value_or(0) + 4) << opcode;
  }
}

}  // namespace
}  // namespace marrow::cx7::test
