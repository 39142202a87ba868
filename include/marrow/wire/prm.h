// SPDX-License-Identifier: Apache-2.0
// Firmware commands: where each field that Marrow uses lies in its mailbox. One table for both sides: src/verbs
// writes commands, the software NIC reads them, so each offset has two witnesses in tests/wire/prm_test.cpp and
// one more in every unmodified program that creates its queues through DEVX.
// Facts: mailbox layouts [prm, as restated by the mlx5_ifc descriptions of several open drivers].
// A field is named by the byte offset of its 32-bit big-endian word and its bits, 31 being the first on the wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "marrow/wire/be.h"

namespace marrow::wire::prm {

/// A field of at most 32 bits.
struct Field {
  std::uint16_t dword;  // byte offset of its word
  std::uint8_t high;
  std::uint8_t low;

  [[nodiscard]] constexpr std::uint32_t mask() const {
    const unsigned width = high - low + 1u;
    return width == 32 ? ~0u : ((1u << width) - 1);
  }
};

/// A field of 64 bits at a byte offset.
struct Field64 {
  std::uint16_t offset;
};

inline std::uint32_t get(const std::byte* base, Field field) {
  be32 word;
  std::memcpy(&word, base + field.dword, sizeof word);
  return (word.host() >> field.low) & field.mask();
}

inline std::uint64_t get(const std::byte* base, Field64 field) {
  be64 word;
  std::memcpy(&word, base + field.offset, sizeof word);
  return word.host();
}

/// Bits of `value` beyond the field's width are dropped, as the hardware would.
inline void set(std::byte* base, Field field, std::uint32_t value) {
  be32 word;
  std::memcpy(&word, base + field.dword, sizeof word);
  const auto others = word.host() & ~(field.mask() << field.low);
  word = be32(others | ((value & field.mask()) << field.low));
  std::memcpy(base + field.dword, &word, sizeof word);
}

inline void set(std::byte* base, Field64 field, std::uint64_t value) {
  const be64 word(value);
  std::memcpy(base + field.offset, &word, sizeof word);
}

enum class Command : std::uint16_t {
  kQueryHcaCap = 0x100,
  kCreateMkey = 0x200,
  kQueryMkey = 0x201,
  kDestroyMkey = 0x202,
  kCreateCq = 0x400,
  kDestroyCq = 0x401,
  kQueryCq = 0x402,
  kCreateQp = 0x500,
  kDestroyQp = 0x501,
  kRst2Init = 0x502,
  kInit2Rtr = 0x503,
  kRtr2Rts = 0x504,
  kRts2Rts = 0x505,
  kQp2Err = 0x507,
  kQp2Rst = 0x50a,
  kQueryQp = 0x50b,
  kInit2Init = 0x50e,
  kCreateDct = 0x710,
  kDestroyDct = 0x711,
  kDrainDct = 0x712,
  kQueryDct = 0x713,
};

/// Byte 0 of every reply.
enum class CommandStatus : std::uint8_t {
  kOk = 0x00,
  kInternalError = 0x01,
  kBadOpcode = 0x02,
  kBadParameter = 0x03,
  kBadSystemState = 0x04,
  kBadResource = 0x05,
  kResourceBusy = 0x06,
  kExceedLimit = 0x08,
  kBadResourceState = 0x09,
  kBadIndex = 0x0a,
  kNoResources = 0x0f,
  kBadInputLength = 0x50,
  kBadOutputLength = 0x51,
  kBadQpState = 0x10,
  kBadSize = 0x40,
};

namespace in {  // common to all commands
inline constexpr Field opcode{0x00, 31, 16};
inline constexpr Field uid{0x00, 15, 0};
inline constexpr Field op_mod{0x04, 15, 0};
}  // namespace in

namespace out {  // common to all replies
inline constexpr Field status{0x00, 31, 24};
inline constexpr Field syndrome{0x04, 31, 0};
inline constexpr Field object{0x08, 23, 0};  // cqn, qpn, mkey index of a CREATE_*
}  // namespace out

namespace query_hca_cap {
inline constexpr std::size_t kInBytes = 0x10;
inline constexpr std::size_t kOutBytes = 0x1010;
inline constexpr std::size_t kCapability = 0x10;  // of the reply
/// op_mod = type << 1 | (1 for the current value, 0 for the most)
enum class Type : std::uint16_t { kGeneral = 0, kOdp = 2, kAtomic = 3, kRoce = 4, kGeneral2 = 0x20 };
}  // namespace query_hca_cap

namespace general_cap {  // offsets inside the capability
inline constexpr Field hca_cap_2{0x04, 31, 31};
inline constexpr Field log_max_qp_sz{0x10, 23, 16};
inline constexpr Field log_max_qp{0x10, 4, 0};
inline constexpr Field log_max_srq_sz{0x10, 31, 24};
inline constexpr Field log_max_srq{0x14, 20, 16};
inline constexpr Field log_max_cq_sz{0x18, 23, 16};
inline constexpr Field log_max_cq{0x18, 4, 0};
inline constexpr Field log_max_ra_req_dc{0x24, 21, 16};
inline constexpr Field log_max_ra_res_dc{0x24, 5, 0};
inline constexpr Field log_max_ra_req_qp{0x28, 21, 16};
inline constexpr Field log_max_ra_res_qp{0x28, 5, 0};
inline constexpr Field port_type{0x34, 9, 8};  // 0 InfiniBand, 1 Ethernet
inline constexpr Field num_ports{0x34, 7, 0};
inline constexpr Field log_max_msg{0x38, 28, 24};
inline constexpr Field cqe_version{0x3c, 3, 0};
inline constexpr Field compact_address_vector{0x40, 31, 31};
inline constexpr Field sctr_data_cqe{0x40, 10, 10};
inline constexpr Field dct{0x40, 5, 5};
inline constexpr Field roce{0x40, 2, 2};
inline constexpr Field atomic{0x40, 1, 1};
inline constexpr Field cq_oi{0x44, 31, 31};
inline constexpr Field cq_resize{0x44, 30, 30};
inline constexpr Field xrc{0x44, 3, 3};
inline constexpr Field ud{0x44, 2, 2};
inline constexpr Field uc{0x44, 1, 1};
inline constexpr Field rc{0x44, 0, 0};
inline constexpr Field uar_4k{0x48, 31, 31};
inline constexpr Field bf{0x4c, 31, 31};
inline constexpr Field log_bf_reg_size{0x4c, 20, 16};
inline constexpr Field max_wqe_sz_sq{0x50, 15, 0};
inline constexpr Field max_wqe_sz_rq{0x54, 15, 0};
inline constexpr Field max_wqe_sz_sq_dc{0x58, 15, 0};
inline constexpr Field log_uar_page_sz{0x90, 15, 0};
inline constexpr Field num_of_uars_per_page{0xa4, 31, 0};
}  // namespace general_cap

namespace atomic_cap {
inline constexpr Field req_8b_endianness_mode{0x08, 31, 30};
inline constexpr Field supported_req_8b_endianness_mode_1{0x08, 25, 25};
inline constexpr Field operations{0x10, 15, 0};  // bit 0 compare-swap, 1 fetch-add
inline constexpr Field size_qp{0x14, 15, 0};     // bit k: operands of 2^k bytes
inline constexpr Field size_dc{0x18, 15, 0};
}  // namespace atomic_cap

namespace roce_cap {
inline constexpr Field qp_ts_format{0x00, 1, 0};  // 0 free running only, 1 real time only, 2 both
inline constexpr Field roce_version{0x10, 7, 0};
inline constexpr Field dest_udp_port{0x14, 15, 0};
inline constexpr Field max_src_udp_port{0x18, 31, 16};
inline constexpr Field min_src_udp_port{0x18, 15, 0};
inline constexpr Field address_table_size{0x1c, 15, 0};
}  // namespace roce_cap

namespace create_cq {
inline constexpr std::size_t kInBytes = 0x110;
inline constexpr std::size_t kOutBytes = 0x10;
inline constexpr std::size_t kContext = 0x10;
inline constexpr Field64 umem_offset{0x50};
inline constexpr Field umem_id{0x58, 31, 0};
inline constexpr Field umem_valid{0x5c, 31, 31};
}  // namespace create_cq

namespace cqc {  // CQ context, offsets inside it
inline constexpr std::size_t kBytes = 0x40;
inline constexpr Field status{0x00, 31, 28};
inline constexpr Field dbr_umem_valid{0x00, 25, 25};
inline constexpr Field cqe_size{0x00, 23, 21};  // 0: 64 bytes
inline constexpr Field collapsed{0x00, 20, 20};
inline constexpr Field overrun_ignore{0x00, 17, 17};
inline constexpr Field compression{0x00, 14, 14};
inline constexpr Field state{0x00, 11, 8};
inline constexpr Field dbr_umem_id{0x04, 31, 0};
inline constexpr Field page_offset{0x08, 11, 6};
inline constexpr Field timestamp_format{0x08, 1, 0};
inline constexpr Field log_size{0x0c, 28, 24};
inline constexpr Field uar_page{0x0c, 23, 0};
inline constexpr Field period{0x10, 27, 16};
inline constexpr Field max_count{0x10, 15, 0};
inline constexpr Field eqn{0x14, 31, 0};
inline constexpr Field log_page_size{0x18, 28, 24};
inline constexpr Field consumer_counter{0x28, 23, 0};
inline constexpr Field producer_counter{0x2c, 23, 0};
inline constexpr Field64 dbr_addr{0x38};  // byte offset in the dbrec's umem
}  // namespace cqc

namespace query_cq {
inline constexpr std::size_t kInBytes = 0x10;
inline constexpr std::size_t kOutBytes = 0x110;
inline constexpr std::size_t kContext = 0x10;
inline constexpr Field cqn{0x08, 23, 0};
}  // namespace query_cq

namespace create_qp {
inline constexpr std::size_t kInBytes = 0x110;
inline constexpr std::size_t kOutBytes = 0x10;
inline constexpr Field input_qpn{0x08, 23, 0};
inline constexpr Field opt_param_mask{0x10, 31, 0};
inline constexpr Field ece{0x14, 31, 0};
inline constexpr std::size_t kContext = 0x18;
inline constexpr Field64 wq_umem_offset{0x100};
inline constexpr Field wq_umem_id{0x108, 31, 0};
inline constexpr Field wq_umem_valid{0x10c, 31, 31};
}  // namespace create_qp

namespace modify_qp {  // RST2INIT, INIT2RTR, RTR2RTS, RTS2RTS, INIT2INIT; 2ERR and 2RST are 0x10 bytes long
inline constexpr std::size_t kInBytes = 0x110;
inline constexpr std::size_t kShortInBytes = 0x10;
inline constexpr std::size_t kOutBytes = 0x10;
inline constexpr Field qpn{0x08, 23, 0};
inline constexpr Field opt_param_mask{0x10, 31, 0};
inline constexpr Field ece{0x14, 31, 0};
inline constexpr std::size_t kContext = 0x18;
}  // namespace modify_qp

namespace query_qp {
inline constexpr std::size_t kInBytes = 0x10;
inline constexpr std::size_t kOutBytes = 0x110;
inline constexpr Field qpn{0x08, 23, 0};
inline constexpr std::size_t kContext = 0x18;
}  // namespace query_qp

namespace create_dct {
inline constexpr std::size_t kInBytes = 0x80;
inline constexpr std::size_t kOutBytes = 0x10;
inline constexpr std::size_t kContext = 0x10;
}  // namespace create_dct

namespace query_dct {
inline constexpr std::size_t kInBytes = 0x10;
inline constexpr std::size_t kOutBytes = 0x80;
inline constexpr Field dctn{0x08, 23, 0};
inline constexpr std::size_t kContext = 0x10;
}  // namespace query_dct

namespace dctc {  // context of a DC target, offsets inside it
inline constexpr std::size_t kBytes = 0x40;
inline constexpr Field state{0x00, 27, 24};  // 0 active, 1 draining, 2 drained
inline constexpr Field user_index{0x04, 23, 0};
inline constexpr Field cqn{0x08, 23, 0};
inline constexpr Field counter_set_id{0x0c, 31, 24};
inline constexpr Field atomic_mode{0x0c, 23, 20};
inline constexpr Field rre{0x0c, 19, 19};
inline constexpr Field rwe{0x0c, 18, 18};
inline constexpr Field rae{0x0c, 17, 17};
inline constexpr Field cs_res{0x10, 23, 16};
inline constexpr Field min_rnr_nak{0x10, 12, 8};
inline constexpr Field srqn{0x14, 23, 0};
inline constexpr Field pd{0x18, 23, 0};
inline constexpr Field tclass{0x1c, 31, 24};
inline constexpr Field flow_label{0x1c, 19, 0};
inline constexpr Field64 dc_access_key{0x20};
inline constexpr Field mtu{0x28, 26, 24};
inline constexpr Field port{0x28, 23, 16};
inline constexpr Field pkey_index{0x28, 15, 0};
inline constexpr Field my_addr_index{0x2c, 23, 16};
inline constexpr Field hop_limit{0x2c, 7, 0};
inline constexpr Field key_violations{0x30, 31, 0};
inline constexpr Field eth_prio{0x34, 10, 8};
inline constexpr Field ecn{0x34, 7, 6};
inline constexpr Field dscp{0x34, 5, 0};
inline constexpr Field ece{0x3c, 31, 0};
}  // namespace dctc

namespace destroy {  // DESTROY_QP, DESTROY_CQ, DESTROY_MKEY, DRAIN_DCT, DESTROY_DCT
inline constexpr std::size_t kInBytes = 0x10;
inline constexpr std::size_t kOutBytes = 0x10;
inline constexpr Field object{0x08, 23, 0};
}  // namespace destroy

enum class QpState : std::uint8_t { kReset = 0, kInit = 1, kRtr = 2, kRts = 3, kSqer = 4, kSqd = 5, kError = 6 };

enum class ServiceType : std::uint8_t { kRc = 0, kUc = 1, kUd = 2, kXrc = 3, kDci = 5, kDct = 6 };

enum class RqType : std::uint8_t { kRegular = 0, kShared = 1, kZeroSize = 3 };

namespace qpc {  // QP context, offsets inside it
inline constexpr std::size_t kBytes = 0xe8;
inline constexpr Field state{0x00, 31, 28};
inline constexpr Field service_type{0x00, 23, 16};
inline constexpr Field pm_state{0x00, 12, 11};  // 3: migrated
inline constexpr Field wq_signature{0x04, 31, 31};
inline constexpr Field pd{0x04, 23, 0};
inline constexpr Field mtu{0x08, 31, 29};  // 1: 256 bytes ... 5: 4096
inline constexpr Field log_msg_max{0x08, 28, 24};
inline constexpr Field log_rq_size{0x08, 22, 19};
inline constexpr Field log_rq_stride{0x08, 18, 16};  // 16 bytes << stride
inline constexpr Field no_sq{0x08, 15, 15};
inline constexpr Field log_sq_size{0x08, 14, 11};  // in WQEBBs
inline constexpr Field timestamp_format{0x08, 7, 6};
inline constexpr Field counter_set_id{0x0c, 31, 24};
inline constexpr Field uar_page{0x0c, 23, 0};
inline constexpr Field send_dbr_mode{0x10, 31, 30};
inline constexpr Field user_index{0x10, 23, 0};
inline constexpr Field log_page_size{0x14, 28, 24};
inline constexpr Field remote_qpn{0x14, 23, 0};
inline constexpr std::size_t kPrimaryPath = 0x18;
inline constexpr Field log_ack_req_freq{0x70, 31, 28};
inline constexpr Field log_sra_max{0x70, 23, 21};
inline constexpr Field retry_count{0x70, 18, 16};
inline constexpr Field rnr_retry{0x70, 15, 13};
inline constexpr Field next_send_psn{0x78, 23, 0};
inline constexpr Field cqn_snd{0x7c, 23, 0};
inline constexpr Field log_rra_max{0x90, 23, 21};
inline constexpr Field atomic_mode{0x90, 19, 16};
inline constexpr Field rre{0x90, 15, 15};
inline constexpr Field rwe{0x90, 14, 14};
inline constexpr Field rae{0x90, 13, 13};
inline constexpr Field page_offset{0x90, 11, 6};
inline constexpr Field min_rnr_nak{0x94, 28, 24};
inline constexpr Field next_rcv_psn{0x94, 23, 0};
inline constexpr Field cqn_rcv{0x9c, 23, 0};
inline constexpr Field64 dbr_addr{0xa0};
inline constexpr Field rq_type{0xac, 26, 24};
inline constexpr Field srqn{0xac, 23, 0};
inline constexpr Field hw_sq_wqebb_counter{0xb4, 31, 16};
inline constexpr Field sw_sq_wqebb_counter{0xb4, 15, 0};
inline constexpr Field cs_req{0xc4, 15, 8};
inline constexpr Field cs_res{0xc4, 7, 0};
inline constexpr Field64 dc_access_key{0xc8};
inline constexpr Field dbr_umem_valid{0xd0, 28, 28};
inline constexpr Field dbr_umem_id{0xe4, 31, 0};
}  // namespace qpc

namespace ads {  // address path, offsets inside it (at qpc::kPrimaryPath)
inline constexpr Field pkey_index{0x00, 15, 0};
inline constexpr Field grh{0x04, 23, 23};
inline constexpr Field mlid{0x04, 22, 16};
inline constexpr Field rlid{0x04, 15, 0};
inline constexpr Field ack_timeout{0x08, 31, 27};
inline constexpr Field src_addr_index{0x08, 23, 16};
inline constexpr Field stat_rate{0x08, 11, 8};
inline constexpr Field hop_limit{0x08, 7, 0};
inline constexpr Field tclass{0x0c, 27, 20};
inline constexpr Field flow_label{0x0c, 19, 0};
inline constexpr std::size_t kRemoteGid = 0x10;  // 16 bytes
inline constexpr Field dscp{0x20, 21, 16};
inline constexpr Field udp_sport{0x20, 15, 0};
inline constexpr Field eth_prio{0x24, 30, 28};
inline constexpr Field sl{0x24, 27, 24};
inline constexpr Field port{0x24, 23, 16};
inline constexpr std::size_t kRemoteMac = 0x26;  // 6 bytes
}  // namespace ads

/// Optional fields of a transition (opt_param_mask).
namespace opt {
inline constexpr std::uint32_t kRre = 1u << 1;
inline constexpr std::uint32_t kRae = 1u << 2;
inline constexpr std::uint32_t kRwe = 1u << 3;
inline constexpr std::uint32_t kPkeyIndex = 1u << 4;
inline constexpr std::uint32_t kRnrTimeout = 1u << 6;
inline constexpr std::uint32_t kPrimaryPath = 1u << 7;
inline constexpr std::uint32_t kPrimaryPort = 1u << 16;
}  // namespace opt

}  // namespace marrow::wire::prm
