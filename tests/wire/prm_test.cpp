// SPDX-License-Identifier: Apache-2.0
// Firmware mailboxes twice: whole commands as bytes by hand from the manual's words, and the position of each field as
// rdma-core's and DPDK's descriptions of the same mailboxes count it: bits from the start of its structure, and width.
#include "marrow/wire/prm.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "wire/hex.h"

namespace marrow::wire::prm {
namespace {

#define PRM(field) #field, field
struct Row {
  const char* name;
  Field field;
  unsigned bit;
  unsigned width;
};
constexpr Row kRows[] = {
    // clang-format off
    {PRM(in::opcode), 0x0, 16},
    {PRM(in::uid), 0x10, 16},
    {PRM(in::op_mod), 0x30, 16},
    {PRM(out::status), 0x0, 8},
    {PRM(out::syndrome), 0x20, 32},
    {PRM(out::object), 0x48, 24},
    {PRM(general_cap::hca_cap_2), 0x20, 1},
    {PRM(general_cap::log_max_qp_sz), 0x88, 8},
    {PRM(general_cap::log_max_qp), 0x9b, 5},
    {PRM(general_cap::log_max_cq_sz), 0xc8, 8},
    {PRM(general_cap::log_max_cq), 0xdb, 5},
    {PRM(general_cap::log_max_ra_req_dc), 0x12a, 6},
    {PRM(general_cap::log_max_ra_res_dc), 0x13a, 6},
    {PRM(general_cap::log_max_ra_req_qp), 0x14a, 6},
    {PRM(general_cap::log_max_ra_res_qp), 0x15a, 6},
    {PRM(general_cap::port_type), 0x1b6, 2},
    {PRM(general_cap::num_ports), 0x1b8, 8},
    {PRM(general_cap::log_max_msg), 0x1c3, 5},
    {PRM(general_cap::cqe_version), 0x1fc, 4},
    {PRM(general_cap::compact_address_vector), 0x200, 1},
    {PRM(general_cap::sctr_data_cqe), 0x215, 1},
    {PRM(general_cap::dct), 0x21a, 1},
    {PRM(general_cap::roce), 0x21d, 1},
    {PRM(general_cap::atomic), 0x21e, 1},
    {PRM(general_cap::cq_oi), 0x220, 1},
    {PRM(general_cap::rc), 0x23f, 1},
    {PRM(general_cap::uar_4k), 0x240, 1},
    {PRM(general_cap::bf), 0x260, 1},
    {PRM(general_cap::log_bf_reg_size), 0x26b, 5},
    {PRM(general_cap::max_wqe_sz_sq), 0x290, 16},
    {PRM(general_cap::max_wqe_sz_rq), 0x2b0, 16},
    {PRM(general_cap::max_wqe_sz_sq_dc), 0x2d0, 16},
    {PRM(general_cap::log_uar_page_sz), 0x490, 16},
    {PRM(general_cap::num_of_uars_per_page), 0x520, 32},
    {PRM(atomic_cap::req_8b_endianness_mode), 0x40, 2},
    {PRM(atomic_cap::supported_req_8b_endianness_mode_1), 0x46, 1},
    {PRM(atomic_cap::operations), 0x90, 16},
    {PRM(atomic_cap::size_qp), 0xb0, 16},
    {PRM(atomic_cap::size_dc), 0xd0, 16},
    {PRM(query_dct::dctn), 0x48, 24},
    {PRM(dctc::state), 0x4, 4},
    {PRM(dctc::user_index), 0x28, 24},
    {PRM(dctc::cqn), 0x48, 24},
    {PRM(dctc::counter_set_id), 0x60, 8},
    {PRM(dctc::atomic_mode), 0x68, 4},
    {PRM(dctc::rre), 0x6c, 1},
    {PRM(dctc::rwe), 0x6d, 1},
    {PRM(dctc::rae), 0x6e, 1},
    {PRM(dctc::cs_res), 0x88, 8},
    {PRM(dctc::min_rnr_nak), 0x93, 5},
    {PRM(dctc::srqn), 0xa8, 24},
    {PRM(dctc::pd), 0xc8, 24},
    {PRM(dctc::tclass), 0xe0, 8},
    {PRM(dctc::flow_label), 0xec, 20},
    {PRM(dctc::mtu), 0x145, 3},
    {PRM(dctc::port), 0x148, 8},
    {PRM(dctc::pkey_index), 0x150, 16},
    {PRM(dctc::my_addr_index), 0x168, 8},
    {PRM(dctc::hop_limit), 0x178, 8},
    {PRM(dctc::key_violations), 0x180, 32},
    {PRM(dctc::eth_prio), 0x1b5, 3},
    {PRM(dctc::ecn), 0x1b8, 2},
    {PRM(dctc::dscp), 0x1ba, 6},
    {PRM(dctc::ece), 0x1e0, 32},
    {PRM(roce_cap::qp_ts_format), 0x1e, 2},
    {PRM(roce_cap::roce_version), 0x98, 8},
    {PRM(roce_cap::dest_udp_port), 0xb0, 16},
    {PRM(roce_cap::max_src_udp_port), 0xc0, 16},
    {PRM(roce_cap::min_src_udp_port), 0xd0, 16},
    {PRM(roce_cap::address_table_size), 0xf0, 16},
    {PRM(create_cq::umem_id), 0x2c0, 32},
    {PRM(create_cq::umem_valid), 0x2e0, 1},
    {PRM(cqc::status), 0x0, 4},
    {PRM(cqc::dbr_umem_valid), 0x6, 1},
    {PRM(cqc::cqe_size), 0x8, 3},
    {PRM(cqc::collapsed), 0xb, 1},
    {PRM(cqc::overrun_ignore), 0xe, 1},
    {PRM(cqc::compression), 0x11, 1},
    {PRM(cqc::state), 0x14, 4},
    {PRM(cqc::dbr_umem_id), 0x20, 32},
    {PRM(cqc::page_offset), 0x54, 6},
    {PRM(cqc::timestamp_format), 0x5e, 2},
    {PRM(cqc::log_size), 0x63, 5},
    {PRM(cqc::uar_page), 0x68, 24},
    {PRM(cqc::period), 0x84, 12},
    {PRM(cqc::max_count), 0x90, 16},
    {PRM(cqc::eqn), 0xa0, 32},
    {PRM(cqc::log_page_size), 0xc3, 5},
    {PRM(cqc::consumer_counter), 0x148, 24},
    {PRM(cqc::producer_counter), 0x168, 24},
    {PRM(query_cq::cqn), 0x48, 24},
    {PRM(create_qp::input_qpn), 0x48, 24},
    {PRM(create_qp::opt_param_mask), 0x80, 32},
    {PRM(create_qp::ece), 0xa0, 32},
    {PRM(create_qp::wq_umem_id), 0x840, 32},
    {PRM(create_qp::wq_umem_valid), 0x860, 1},
    {PRM(modify_qp::qpn), 0x48, 24},
    {PRM(modify_qp::opt_param_mask), 0x80, 32},
    {PRM(modify_qp::ece), 0xa0, 32},
    {PRM(query_qp::qpn), 0x48, 24},
    {PRM(destroy::object), 0x48, 24},
    {PRM(qpc::state), 0x0, 4},
    {PRM(qpc::service_type), 0x8, 8},
    {PRM(qpc::pm_state), 0x13, 2},
    {PRM(qpc::wq_signature), 0x20, 1},
    {PRM(qpc::pd), 0x28, 24},
    {PRM(qpc::mtu), 0x40, 3},
    {PRM(qpc::log_msg_max), 0x43, 5},
    {PRM(qpc::log_rq_size), 0x49, 4},
    {PRM(qpc::log_rq_stride), 0x4d, 3},
    {PRM(qpc::no_sq), 0x50, 1},
    {PRM(qpc::log_sq_size), 0x51, 4},
    {PRM(qpc::timestamp_format), 0x58, 2},
    {PRM(qpc::counter_set_id), 0x60, 8},
    {PRM(qpc::uar_page), 0x68, 24},
    {PRM(qpc::send_dbr_mode), 0x80, 2},
    {PRM(qpc::user_index), 0x88, 24},
    {PRM(qpc::log_page_size), 0xa3, 5},
    {PRM(qpc::remote_qpn), 0xa8, 24},
    {PRM(qpc::log_ack_req_freq), 0x380, 4},
    {PRM(qpc::log_sra_max), 0x388, 3},
    {PRM(qpc::retry_count), 0x38d, 3},
    {PRM(qpc::rnr_retry), 0x390, 3},
    {PRM(qpc::next_send_psn), 0x3c8, 24},
    {PRM(qpc::cqn_snd), 0x3e8, 24},
    {PRM(qpc::log_rra_max), 0x488, 3},
    {PRM(qpc::atomic_mode), 0x48c, 4},
    {PRM(qpc::rre), 0x490, 1},
    {PRM(qpc::rwe), 0x491, 1},
    {PRM(qpc::rae), 0x492, 1},
    {PRM(qpc::page_offset), 0x494, 6},
    {PRM(qpc::min_rnr_nak), 0x4a3, 5},
    {PRM(qpc::next_rcv_psn), 0x4a8, 24},
    {PRM(qpc::cqn_rcv), 0x4e8, 24},
    {PRM(qpc::rq_type), 0x565, 3},
    {PRM(qpc::srqn), 0x568, 24},
    {PRM(qpc::hw_sq_wqebb_counter), 0x5a0, 16},
    {PRM(qpc::sw_sq_wqebb_counter), 0x5b0, 16},
    {PRM(qpc::cs_req), 0x630, 8},
    {PRM(qpc::cs_res), 0x638, 8},
    {PRM(qpc::dbr_umem_valid), 0x683, 1},
    {PRM(qpc::dbr_umem_id), 0x720, 32},
    {PRM(ads::pkey_index), 0x10, 16},
    {PRM(ads::grh), 0x28, 1},
    {PRM(ads::mlid), 0x29, 7},
    {PRM(ads::rlid), 0x30, 16},
    {PRM(ads::ack_timeout), 0x40, 5},
    {PRM(ads::src_addr_index), 0x48, 8},
    {PRM(ads::stat_rate), 0x54, 4},
    {PRM(ads::hop_limit), 0x58, 8},
    {PRM(ads::tclass), 0x64, 8},
    {PRM(ads::flow_label), 0x6c, 20},
    {PRM(ads::dscp), 0x10a, 6},
    {PRM(ads::udp_sport), 0x110, 16},
    {PRM(ads::eth_prio), 0x121, 3},
    {PRM(ads::sl), 0x124, 4},
    {PRM(ads::port), 0x128, 8},
    // clang-format on
};
#undef PRM

TEST(Fields, LieAtTheBitsThatOthersCount) {
  for (const auto& row : kRows) {
    EXPECT_EQ(row.field.dword * 8u + 31u - row.field.high, row.bit) << row.name;
    EXPECT_EQ(row.field.high - row.field.low + 1u, row.width) << row.name;
    EXPECT_EQ(row.field.dword % 4, 0) << row.name;
  }
  EXPECT_EQ(create_cq::umem_offset.offset * 8u, 0x280u);
  EXPECT_EQ(cqc::dbr_addr.offset * 8u, 0x1c0u);
  EXPECT_EQ(create_qp::wq_umem_offset.offset * 8u, 0x800u);
  EXPECT_EQ(qpc::dbr_addr.offset * 8u, 0x500u);
  EXPECT_EQ(qpc::dc_access_key.offset * 8u, 0x640u);
  EXPECT_EQ(qpc::kPrimaryPath * 8u, 0xc0u);
  EXPECT_EQ(ads::kRemoteGid * 8u, 0x80u);
  EXPECT_EQ(ads::kRemoteMac * 8u, 0x130u);
}

// Every field alone: it reads back, in its own bits only, and what does not fit is dropped.
TEST(Fields, TouchNothingBesideThemselves) {
  for (const auto& row : kRows) {
    std::array<std::byte, 0x120> zero{};
    set(zero.data(), row.field, ~0u);
    EXPECT_EQ(get(zero.data(), row.field), row.field.mask()) << row.name;
    unsigned bits = 0;
    for (const auto byte : zero) bits += static_cast<unsigned>(std::popcount(static_cast<unsigned char>(byte)));
    EXPECT_EQ(bits, row.width) << row.name;
    std::array<std::byte, 0x120> ones;
    ones.fill(std::byte{0xff});
    set(ones.data(), row.field, 0);
    EXPECT_EQ(get(ones.data(), row.field), 0u) << row.name;
    for (unsigned i = 0; i < ones.size(); ++i) EXPECT_EQ(ones[i] ^ zero[i], std::byte{0xff}) << row.name;
  }
}

TEST(CreateCq, HasItsBytesWhereTheManualSays) {
  std::array<std::byte, create_cq::kInBytes> box{};
  set(box.data(), in::opcode, static_cast<std::uint32_t>(Command::kCreateCq));
  auto* context = box.data() + create_cq::kContext;
  set(context, cqc::dbr_umem_valid, 1);
  set(context, cqc::collapsed, 1);
  set(context, cqc::overrun_ignore, 1);
  set(context, cqc::dbr_umem_id, 0x11);
  set(context, cqc::log_size, 6);
  set(context, cqc::uar_page, 0x123);
  set(context, cqc::eqn, 5);
  set(context, cqc::dbr_addr, 0x40);
  set(box.data(), create_cq::umem_offset, 0x1000);
  set(box.data(), create_cq::umem_id, 0x22);
  set(box.data(), create_cq::umem_valid, 1);
  EXPECT_EQ(hex(box.data(), 0x60),
            "04000000 00000000 00000000 00000000\n"
            "02120000 00000011 00000000 06000123\n"
            "00000000 00000005 00000000 00000000\n"
            "00000000 00000000 00000000 00000000\n"
            "00000000 00000000 00000000 00000040\n"
            "00000000 00001000 00000022 80000000");
}

TEST(CreateQp, HasItsBytesWhereTheManualSays) {
  std::array<std::byte, create_qp::kInBytes> box{};
  set(box.data(), in::opcode, static_cast<std::uint32_t>(Command::kCreateQp));
  auto* context = box.data() + create_qp::kContext;
  set(context, qpc::pm_state, 3);
  set(context, qpc::pd, 0xabc);
  set(context, qpc::log_sq_size, 6);
  set(context, qpc::uar_page, 0x123);
  set(context, qpc::user_index, 7);
  set(context, qpc::cqn_snd, 0x99);
  set(context, qpc::dbr_addr, 0x80);
  set(context, qpc::rq_type, static_cast<std::uint32_t>(RqType::kZeroSize));
  set(context, qpc::dbr_umem_valid, 1);
  set(context, qpc::dbr_umem_id, 0x11);
  set(box.data(), create_qp::wq_umem_id, 0x33);
  set(box.data(), create_qp::wq_umem_valid, 1);
  const std::string nothing = "00000000 00000000 00000000 00000000\n";
  EXPECT_EQ(hex(box),
            "05000000 00000000 00000000 00000000\n"
            "00000000 00000000 00001800 00000abc\n"
            "00003000 00000123 00000007 00000000\n" +
                nothing + nothing + nothing + nothing + nothing + nothing + "00000000 00000099 00000000 00000000\n" +
                nothing +
                "00000000 00000000 00000000 00000080\n"
                "00000000 03000000 00000000 00000000\n" +
                nothing +
                "00000000 00000000 10000000 00000000\n"
                "00000000 00000000 00000000 00000011\n"
                "00000000 00000000 00000033 80000000");
}

TEST(Init2Rtr, HasItsBytesWhereTheManualSays) {
  std::array<std::byte, modify_qp::kInBytes> box{};
  set(box.data(), in::opcode, static_cast<std::uint32_t>(Command::kInit2Rtr));
  set(box.data(), modify_qp::qpn, 0x1234);
  set(box.data(), modify_qp::opt_param_mask, opt::kRre | opt::kRae | opt::kRwe);
  auto* context = box.data() + modify_qp::kContext;
  set(context, qpc::mtu, 5);
  set(context, qpc::log_msg_max, 30);
  set(context, qpc::remote_qpn, 0x4321);
  auto* path = context + qpc::kPrimaryPath;
  set(path, ads::rlid, 2);
  set(path, ads::sl, 1);
  set(path, ads::port, 1);
  set(context, qpc::log_rra_max, 4);
  set(context, qpc::min_rnr_nak, 12);
  set(context, qpc::next_rcv_psn, 0xabcdef);
  EXPECT_EQ(hex(box.data(), 0x60),
            "05030000 00000000 00001234 00000000\n"
            "0000000e 00000000 00000000 00000000\n"
            "be000000 00000000 00000000 00004321\n"
            "00000000 00000002 00000000 00000000\n"
            "00000000 00000000 00000000 00000000\n"
            "00000000 01010000 00000000 00000000");
  EXPECT_EQ(hex(box.data() + 0xa0, 0x10), "00000000 00000000 00800000 0cabcdef");
}

}  // namespace
}  // namespace marrow::wire::prm
