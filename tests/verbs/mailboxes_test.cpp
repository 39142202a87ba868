// SPDX-License-Identifier: Apache-2.0
// Golden bytes of the firmware commands: every non-zero word written by hand from the manual's layouts, so that a wrong
// row in marrow/wire/prm.h, which the software NIC shares, cannot hide.
#include "verbs/mailboxes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace marrow::verbs {
namespace {

using Words = std::map<std::size_t, std::uint32_t>;  // byte offset -> value of the big-endian word

template <std::size_t kBytes>
Words nonzero_words(const Mailbox<kBytes>& box) {
  Words words;
  for (std::size_t at = 0; at < kBytes; at += 4) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i) word = word << 8 | std::to_integer<std::uint32_t>(box.bytes[at + i]);
    if (word != 0) words[at] = word;
  }
  return words;
}

TEST(CreateCq, NamesItsMemoryAndTheTwoBitsOfAGpuQueue) {
  const auto box = create_cq({.log_cqes = 7,
                              .uar_page = 0x123,
                              .eqn = 5,
                              .umem_id = 0x77,
                              .dbrec_umem_id = 0x78,
                              .dbrec_offset = 0x40,
                              .collapsed = true,
                              .overrun_ignore = true});
  EXPECT_EQ(box.bytes.size(), 0x110u);
  EXPECT_EQ(nonzero_words(box), (Words{
                                    {0x00, 0x04000000},  // opcode
                                    {0x10, 0x02120000},  // dbr_umem_valid 25, cc 20, oi 17
                                    {0x14, 0x00000078},  // dbr_umem_id
                                    {0x1c, 0x07000123},  // log_cq_size 28:24, uar_page
                                    {0x24, 0x00000005},  // c_eqn
                                    {0x4c, 0x00000040},  // dbr_addr, low half
                                    {0x58, 0x00000077},  // cq_umem_id
                                    {0x5c, 0x80000000},  // cq_umem_valid
                                }));
}

TEST(CreateCq, LeavesBothBitsOutOfAnOrdinaryQueue) {
  const auto words = nonzero_words(create_cq({.log_cqes = 4}));
  EXPECT_EQ(words.at(0x10), 0x02000000u);
  EXPECT_EQ(words.at(0x1c), 0x04000000u);
}

TEST(CreateQp, IsAnRcQueueWithoutReceives) {
  const auto box = create_qp({.pdn = 0x54321,
                              .log_sq_wqebbs = 7,
                              .uar_page = 0x123,
                              .cqn = 0x10043,
                              .umem_id = 0x77,
                              .dbrec_umem_id = 0x78,
                              .dbrec_offset = 0x40,
                              .timestamp_format = 1,
                              .user_index = 9});
  EXPECT_EQ(box.bytes.size(), 0x110u);
  EXPECT_EQ(nonzero_words(box), (Words{
                                    {0x00, 0x05000000},   // opcode
                                    {0x18, 0x00001800},   // st RC 23:16, pm_state migrated 12:11
                                    {0x1c, 0x00054321},   // pd
                                    {0x20, 0x00003840},   // log_sq_size 14:11, ts_format 7:6
                                    {0x24, 0x00000123},   // uar_page
                                    {0x28, 0x00000009},   // user_index
                                    {0x94, 0x00010043},   // cqn_snd
                                    {0xbc, 0x00000040},   // dbr_addr, low half
                                    {0xc4, 0x03000000},   // rq_type zero-size 26:24
                                    {0xe8, 0x10000000},   // dbr_umem_valid 28
                                    {0xfc, 0x00000078},   // dbr_umem_id
                                    {0x108, 0x00000077},  // wq_umem_id
                                    {0x10c, 0x80000000},  // wq_umem_valid
                                }));
}

TEST(CreateQp, HasAnRqWhereImmediatesAreToCome) {
  const auto box = create_qp({.cqn = 0x43, .rq = {.any = true, .log_wqes = 5, .cqn = 0x44}});
  EXPECT_EQ(nonzero_words(box), (Words{
                                    {0x00, 0x05000000},   // opcode
                                    {0x18, 0x00001800},   // pm_state
                                    {0x20, 0x00280000},   // log_rq_size 22:19; log_rq_stride 18:16 is 16 bytes << 0
                                    {0x94, 0x00000043},   // cqn_snd
                                    {0xb4, 0x00000044},   // cqn_rcv
                                    {0xe8, 0x10000000},   // dbr_umem_valid; rq_type regular is 0
                                    {0x10c, 0x80000000},  // wq_umem_valid
                                }));
}

TEST(CreateQp, IsADciWhereAsked) {
  const auto box = create_qp({.service = prm::ServiceType::kDci, .log_sq_wqebbs = 7});
  EXPECT_EQ(nonzero_words(box).at(0x18), 0x00051800u) << "st DCI 23:16, pm_state migrated 12:11";
}

// The key stands where an RC queue says its rights, and nobody is named as the peer.
TEST(Dci, ComesUpInThreeSteps) {
  const DciParameters dci{.qpn = 0x10041,
                          .key = 0x0123456789abcdef,
                          .mtu = Mtu::k4096,
                          .log_reads = 4,
                          .psn = 0x123456,
                          .behaviour = {.ack_timeout = 14, .retry_count = 7, .rnr_retry = 6, .service_level = 3}};
  EXPECT_EQ(nonzero_words(dci_rst2init(dci)), (Words{
                                                  {0x00, 0x05020000},  // opcode
                                                  {0x08, 0x00010041},  // qpn
                                                  {0x18, 0x00001800},  // pm_state
                                                  {0x54, 0x00010000},  // vhca_port_num
                                                  {0xe0, 0x01234567},  // dc_access_key
                                                  {0xe4, 0x89abcdef},
                                              }));
  EXPECT_EQ(nonzero_words(dci_init2rtr(dci)), (Words{
                                                  {0x00, 0x05030000},  // opcode
                                                  {0x08, 0x00010041},  // qpn
                                                  {0x20, 0xbe000000},  // mtu 31:29, log_msg_max 28:24
                                                  {0x54, 0x03010000},  // sl 27:24, vhca_port_num
                                              }));
  EXPECT_EQ(nonzero_words(dci_rtr2rts(dci)), (Words{
                                                 {0x00, 0x05040000},  // opcode
                                                 {0x08, 0x00010041},  // qpn
                                                 {0x38, 0x70000000},  // ack_timeout 31:27
                                                 {0x88, 0x0087c000},  // log_sra_max, retry_count, rnr_retry
                                                 {0x90, 0x00123456},  // next_send_psn
                                             }));
}

TEST(CreateDct, NamesItsKeyAndWhatItMustHave) {
  const auto box = create_dct({.pdn = 0x54321,
                               .cqn = 0x10043,
                               .srqn = 0x77,
                               .key = 0x0123456789abcdef,
                               .mtu = Mtu::k4096,
                               .user_index = 9,
                               .behaviour = {.min_rnr_nak = 12, .hop_limit = 64}});
  EXPECT_EQ(box.bytes.size(), 0x80u);
  EXPECT_EQ(nonzero_words(box), (Words{
                                    {0x00, 0x07100000},  // opcode
                                    {0x14, 0x00000009},  // user_index
                                    {0x18, 0x00010043},  // cqn
                                    {0x1c, 0x003e0000},  // atomic_mode 23:20, rre rwe rae 19:17
                                    {0x20, 0x00000c00},  // min_rnr_nak 12:8
                                    {0x24, 0x00000077},  // srqn
                                    {0x28, 0x00054321},  // pd
                                    {0x30, 0x01234567},  // dc_access_key
                                    {0x34, 0x89abcdef},
                                    {0x38, 0x05010000},  // mtu 26:24, port 23:16
                                    {0x3c, 0x00000040},  // hop_limit
                                }));
}

TEST(Rst2Init, OpensTheQpToAllOneSidedOperations) {
  EXPECT_EQ(nonzero_words(rst2init(0x10041, 1, {.atomics = true})), (Words{
                                                                        {0x00, 0x05020000},  // opcode
                                                                        {0x08, 0x00010041},  // qpn
                                                                        {0x18, 0x00001800},  // pm_state
                                                                        {0x54, 0x00010000},  // vhca_port_num
                                                                        {0xa8, 0x0003e000},  // atomic_mode, rre rwe rae
                                                                    }));
}

TEST(Rst2Init, DoesNotOfferAtomicsThatTheDeviceLacks) {
  EXPECT_EQ(nonzero_words(rst2init(0x10041, 1, {.atomics = false})).at(0xa8), 0x0000c000u);
}

Connection infiniband() {
  Connection c;
  c.local = {.qpn = 0x10041, .psn = 0x123456, .lid = 1, .mtu = Mtu::k4096, .log_reads = 4};
  c.remote = {.qpn = 0x20042, .psn = 0xabcdef, .lid = 2, .mtu = Mtu::k4096, .log_reads = 4};
  for (std::uint8_t i = 0; i < 16; ++i) c.remote.gid[i] = static_cast<std::uint8_t>(0xf0 + i);
  return c;
}

TEST(Init2Rtr, NamesALidInsideASubnetAndNoGid) {
  EXPECT_EQ(nonzero_words(init2rtr(infiniband())), (Words{
                                                       {0x00, 0x05030000},  // opcode
                                                       {0x08, 0x00010041},  // qpn
                                                       {0x20, 0xbe000000},  // mtu 31:29, log_msg_max 28:24
                                                       {0x2c, 0x00020042},  // remote_qpn
                                                       {0x34, 0x00000002},  // rlid
                                                       {0x54, 0x00010000},  // vhca_port_num
                                                       {0xa8, 0x00800000},  // log_rra_max 23:21
                                                       {0xac, 0x0cabcdef},  // min_rnr_nak 28:24, next_rcv_psn
                                                   }));
}

TEST(Init2Rtr, AddsAGlobalHeaderAcrossSubnets) {
  Connection c = infiniband();
  c.routed = true;
  c.gid_index = 3;
  c.behaviour.service_level = 2;
  c.behaviour.traffic_class = 0x68;
  const auto words = nonzero_words(init2rtr(c));
  EXPECT_EQ(words.at(0x34), 0x00800002u) << "grh 23, rlid";
  EXPECT_EQ(words.at(0x38), 0x00030040u) << "src_addr_index 23:16, hop_limit";
  EXPECT_EQ(words.at(0x3c), 0x06800000u) << "tclass 27:20";
  EXPECT_EQ(words.at(0x40), 0xf0f1f2f3u);
  EXPECT_EQ(words.at(0x4c), 0xfcfdfeffu);
  EXPECT_EQ(words.at(0x54), 0x02010000u) << "sl 27:24, port";
}

TEST(Init2Rtr, NamesGidMacAndUdpPortOnEthernetAndNeverTheGrhBit) {
  Connection c = infiniband();
  c.local.link = c.remote.link = LinkLayer::kEthernet;
  c.local.lid = c.remote.lid = 0;
  c.gid_index = 3;
  c.remote_mac = {0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
  c.udp_sport = 0xc123;
  c.behaviour.service_level = 3;
  c.behaviour.traffic_class = 0x68;
  EXPECT_EQ(nonzero_words(init2rtr(c)), (Words{
                                            {0x00, 0x05030000},
                                            {0x08, 0x00010041},
                                            {0x20, 0xbe000000},
                                            {0x2c, 0x00020042},
                                            {0x38, 0x00030040},  // src_addr_index, hop_limit
                                            {0x40, 0xf0f1f2f3},  // rgid
                                            {0x44, 0xf4f5f6f7},
                                            {0x48, 0xf8f9fafb},
                                            {0x4c, 0xfcfdfeff},
                                            {0x50, 0x001ac123},  // dscp 21:16, udp_sport
                                            {0x54, 0x30010a0b},  // eth_prio 30:28, port, rmac 47:32
                                            {0x58, 0x0c0d0e0f},  // rmac 31:0
                                            {0xa8, 0x00800000},
                                            {0xac, 0x0cabcdef},
                                        }));
}

TEST(Init2Rtr, TakesTheSmallerMtuAndTheFewerReadsOfTheTwoEnds) {
  Connection c = infiniband();
  c.remote.mtu = Mtu::k1024;
  c.remote.log_reads = 1;
  EXPECT_EQ(nonzero_words(init2rtr(c)).at(0x20), 0x7e000000u);
  EXPECT_EQ(nonzero_words(init2rtr(c)).at(0xa8), 0x00200000u);
  EXPECT_EQ(nonzero_words(rtr2rts(c)).at(0x88), 0x0027e000u);
}

TEST(Rtr2Rts, SetsPsnTimeoutAndRetries) {
  EXPECT_EQ(nonzero_words(rtr2rts(infiniband())), (Words{
                                                      {0x00, 0x05040000},  // opcode
                                                      {0x08, 0x00010041},  // qpn
                                                      {0x38, 0x70000000},  // ack_timeout 31:27
                                                      {0x88, 0x0087e000},  // log_sra_max, retry_count, rnr_retry
                                                      {0x90, 0x00123456},  // next_send_psn
                                                  }));
}

TEST(QueryQp, AndTwoErrAreSixteenBytes) {
  EXPECT_EQ(query_qp(0x10041).bytes.size(), 0x10u);
  EXPECT_EQ(nonzero_words(query_qp(0x10041)), (Words{{0x00, 0x050b0000}, {0x08, 0x00010041}}));
  EXPECT_EQ(nonzero_words(qp_to_error(0x10041)), (Words{{0x00, 0x05070000}, {0x08, 0x00010041}}));
}

}  // namespace
}  // namespace marrow::verbs
