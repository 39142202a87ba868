// SPDX-License-Identifier: Apache-2.0
// Which bits of each mailbox mean something. A bit that no row names is reserved and must be zero; a row marked
// kMustBeZero is a field that real firmware knows and this one does not model, and it is refused by its name.
// Facts: field positions [prm]; those that src/verbs also uses stand in marrow/wire/prm.h, the others only here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cx7/fw/mkc.h"
#include "cx7/fw/rmpc.h"
#include "marrow/wire/prm.h"

namespace marrow::cx7::fw {

enum class Rule : std::uint8_t { kKnown, kMustBeZero };

struct FieldRule {
  wire::prm::Field field;
  Rule rule = Rule::kKnown;
  std::string_view name;
};

/// Where a list of fields stands in a mailbox.
struct Section {
  std::size_t offset = 0;
  std::span<const FieldRule> fields;
};

namespace table {

using wire::prm::Field;
namespace prm = wire::prm;

constexpr FieldRule known(Field field, std::string_view name) {
  return {field, Rule::kKnown, name};
}
constexpr FieldRule unmodelled(Field field, std::string_view name) {
  return {field, Rule::kMustBeZero, name};
}
constexpr Field high_half(prm::Field64 field) {
  return {field.offset, 31, 0};
}
constexpr Field low_half(prm::Field64 field) {
  return {static_cast<std::uint16_t>(field.offset + 4), 31, 0};
}

inline constexpr FieldRule kHeader[] = {
    known(prm::in::opcode, "opcode"),
    known(prm::in::uid, "uid"),
    unmodelled(prm::in::op_mod, "op_mod"),
};

inline constexpr FieldRule kCapHeader[] = {
    known(prm::in::opcode, "opcode"),         known(prm::in::uid, "uid"),
    known(prm::in::op_mod, "op_mod"),         unmodelled({0x08, 31, 31}, "other_function"),
    unmodelled({0x08, 15, 0}, "function_id"),
};

inline constexpr FieldRule kVport[] = {
    unmodelled({0x08, 31, 31}, "other_vport"),
    known({0x08, 19, 16}, "port_num"),
    unmodelled({0x08, 15, 0}, "vport_number"),
};
inline constexpr FieldRule kGidIndex[] = {known({0x0c, 15, 0}, "gid_index")};
inline constexpr FieldRule kRoceAddress[] = {
    known({0x08, 31, 16}, "roce_address_index"),
    known({0x08, 3, 0}, "vhca_port_num"),
};

inline constexpr FieldRule kNumber[] = {known({0x08, 23, 0}, "object number")};

inline constexpr FieldRule kCreateCqHeader[] = {unmodelled({0x08, 23, 0}, "input_cqn")};
inline constexpr FieldRule kCreateCqTail[] = {
    known(high_half(prm::create_cq::umem_offset), "cq_umem_offset"),
    known(low_half(prm::create_cq::umem_offset), "cq_umem_offset"),
    known(prm::create_cq::umem_id, "cq_umem_id"),
    known(prm::create_cq::umem_valid, "cq_umem_valid"),
};

inline constexpr FieldRule kCqc[] = {
    unmodelled(prm::cqc::status, "status"),
    unmodelled({0x00, 27, 27}, "as_notify"),
    unmodelled({0x00, 26, 26}, "initiator_src_dct"),
    known(prm::cqc::dbr_umem_valid, "dbr_umem_valid"),
    known(prm::cqc::cqe_size, "cqe_sz"),
    known(prm::cqc::collapsed, "cc"),
    unmodelled({0x00, 18, 18}, "scqe_break_moderation_en"),
    known(prm::cqc::overrun_ignore, "oi"),
    unmodelled({0x00, 16, 15}, "cq_period_mode"),
    unmodelled(prm::cqc::compression, "cqe_comp_en"),
    unmodelled({0x00, 13, 12}, "mini_cqe_res_format"),
    unmodelled(prm::cqc::state, "st"),
    known(prm::cqc::dbr_umem_id, "dbr_umem_id"),
    unmodelled(prm::cqc::page_offset, "page_offset"),
    unmodelled(prm::cqc::timestamp_format, "cqe_timestamp_format"),
    known(prm::cqc::log_size, "log_cq_size"),
    known(prm::cqc::uar_page, "uar_page"),
    unmodelled(prm::cqc::period, "cq_period"),
    unmodelled(prm::cqc::max_count, "cq_max_count"),
    known(prm::cqc::eqn, "c_eqn"),
    known(prm::cqc::log_page_size, "log_page_size"),  // without meaning for a umem
    unmodelled({0x20, 23, 0}, "last_notified_index"),
    unmodelled({0x24, 23, 0}, "last_solicit_index"),
    unmodelled(prm::cqc::consumer_counter, "consumer_counter"),
    unmodelled(prm::cqc::producer_counter, "producer_counter"),
    known(high_half(prm::cqc::dbr_addr), "dbr_addr"),
    known(low_half(prm::cqc::dbr_addr), "dbr_addr"),
};

inline constexpr FieldRule kQpHeader[] = {
    known(prm::modify_qp::opt_param_mask, "opt_param_mask"),
    unmodelled(prm::modify_qp::ece, "ece"),
};

inline constexpr FieldRule kCreateQpHeader[] = {
    unmodelled(prm::create_qp::input_qpn, "input_qpn"),
    unmodelled(prm::create_qp::opt_param_mask, "opt_param_mask"),
    unmodelled(prm::create_qp::ece, "ece"),
};

inline constexpr FieldRule kCreateQpTail[] = {
    known(high_half(prm::create_qp::wq_umem_offset), "wq_umem_offset"),
    known(low_half(prm::create_qp::wq_umem_offset), "wq_umem_offset"),
    known(prm::create_qp::wq_umem_id, "wq_umem_id"),
    known(prm::create_qp::wq_umem_valid, "wq_umem_valid"),
};

inline constexpr FieldRule kQpc[] = {
    known(prm::qpc::state, "state"),
    unmodelled({0x00, 27, 24}, "lag_tx_port_affinity"),
    known(prm::qpc::service_type, "st"),
    unmodelled({0x00, 13, 13}, "isolate_vl_tc"),
    known(prm::qpc::pm_state, "pm_state"),
    unmodelled({0x00, 7, 4}, "offload_type"),
    unmodelled({0x00, 3, 2}, "end_padding_mode"),
    unmodelled(prm::qpc::wq_signature, "wq_signature"),
    unmodelled({0x04, 30, 30}, "block_lb_mc"),
    unmodelled({0x04, 29, 29}, "atomic_like_write_en"),
    unmodelled({0x04, 28, 28}, "latency_sensitive"),
    unmodelled({0x04, 26, 26}, "drain_sigerr"),
    known(prm::qpc::pd, "pd"),
    known(prm::qpc::mtu, "mtu"),
    known(prm::qpc::log_msg_max, "log_msg_max"),
    known(prm::qpc::log_rq_size, "log_rq_size"),
    known(prm::qpc::log_rq_stride, "log_rq_stride"),
    known(prm::qpc::no_sq, "no_sq"),
    known(prm::qpc::log_sq_size, "log_sq_size"),
    known(prm::qpc::timestamp_format, "ts_format"),
    unmodelled({0x08, 5, 5}, "data_in_order"),
    unmodelled({0x08, 4, 4}, "rlky"),
    unmodelled({0x08, 3, 0}, "ulp_stateless_offload_mode"),
    unmodelled(prm::qpc::counter_set_id, "counter_set_id"),
    known(prm::qpc::uar_page, "uar_page"),
    unmodelled(prm::qpc::send_dbr_mode, "send_dbr_mode"),
    known(prm::qpc::user_index, "user_index"),
    known(prm::qpc::log_page_size, "log_page_size"),  // without meaning for a umem
    known(prm::qpc::remote_qpn, "remote_qpn"),
    known(prm::qpc::log_ack_req_freq, "log_ack_req_freq"),
    known(prm::qpc::log_sra_max, "log_sra_max"),
    known(prm::qpc::retry_count, "retry_count"),
    known(prm::qpc::rnr_retry, "rnr_retry"),
    unmodelled({0x70, 10, 8}, "cur_rnr_retry"),
    unmodelled({0x70, 7, 5}, "cur_retry_count"),
    known(prm::qpc::next_send_psn, "next_send_psn"),
    known(prm::qpc::cqn_snd, "cqn_snd"),
    unmodelled({0x80, 23, 0}, "deth_sqpn"),
    unmodelled({0x88, 23, 0}, "last_acked_psn"),
    unmodelled({0x8c, 23, 0}, "ssn"),
    known(prm::qpc::log_rra_max, "log_rra_max"),
    known(prm::qpc::atomic_mode, "atomic_mode"),
    known(prm::qpc::rre, "rre"),
    known(prm::qpc::rwe, "rwe"),
    known(prm::qpc::rae, "rae"),
    unmodelled(prm::qpc::page_offset, "page_offset"),
    unmodelled({0x90, 2, 2}, "cd_slave_receive"),
    unmodelled({0x90, 1, 1}, "cd_slave_send"),
    unmodelled({0x90, 0, 0}, "cd_master"),
    known(prm::qpc::min_rnr_nak, "min_rnr_nak"),
    known(prm::qpc::next_rcv_psn, "next_rcv_psn"),
    unmodelled({0x98, 23, 0}, "xrcd"),
    known(prm::qpc::cqn_rcv, "cqn_rcv"),
    known(high_half(prm::qpc::dbr_addr), "dbr_addr"),
    known(low_half(prm::qpc::dbr_addr), "dbr_addr"),
    unmodelled({0xa8, 31, 0}, "q_key"),
    known(prm::qpc::rq_type, "rq_type"),
    known(prm::qpc::srqn, "srqn_rmpn"),
    unmodelled({0xb0, 23, 0}, "rmsn"),
    unmodelled(prm::qpc::hw_sq_wqebb_counter, "hw_sq_wqebb_counter"),
    unmodelled(prm::qpc::sw_sq_wqebb_counter, "sw_sq_wqebb_counter"),
    unmodelled({0xb8, 31, 0}, "hw_rq_counter"),
    unmodelled({0xbc, 31, 0}, "sw_rq_counter"),
    unmodelled({0xc4, 16, 16}, "cgs"),
    unmodelled(prm::qpc::cs_req, "cs_req"),
    unmodelled(prm::qpc::cs_res, "cs_res"),
    known(high_half(prm::qpc::dc_access_key), "dc_access_key"),
    known(low_half(prm::qpc::dc_access_key), "dc_access_key"),
    known(prm::qpc::dbr_umem_valid, "dbr_umem_valid"),
    known(prm::qpc::dbr_umem_id, "dbr_umem_id"),
};

inline constexpr FieldRule kAds[] = {
    unmodelled({0x00, 31, 31}, "fl"),
    unmodelled({0x00, 30, 30}, "free_ar"),
    known(prm::ads::pkey_index, "pkey_index"),
    known(prm::ads::grh, "grh"),
    known(prm::ads::mlid, "mlid"),
    known(prm::ads::rlid, "rlid"),
    known(prm::ads::ack_timeout, "ack_timeout"),
    known(prm::ads::src_addr_index, "src_addr_index"),
    known(prm::ads::stat_rate, "stat_rate"),
    known(prm::ads::hop_limit, "hop_limit"),
    known(prm::ads::tclass, "tclass"),
    known(prm::ads::flow_label, "flow_label"),
    known({0x10, 31, 0}, "rgid_rip"),
    known({0x14, 31, 0}, "rgid_rip"),
    known({0x18, 31, 0}, "rgid_rip"),
    known({0x1c, 31, 0}, "rgid_rip"),
    unmodelled({0x20, 27, 27}, "f_dscp"),
    unmodelled({0x20, 26, 26}, "f_ecn"),
    unmodelled({0x20, 24, 24}, "f_eth_prio"),
    unmodelled({0x20, 23, 22}, "ecn"),
    known(prm::ads::dscp, "dscp"),
    known(prm::ads::udp_sport, "udp_sport"),
    unmodelled({0x24, 31, 31}, "dei_cfi"),
    known(prm::ads::eth_prio, "eth_prio"),
    known(prm::ads::sl, "sl"),
    known(prm::ads::port, "vhca_port_num"),
    known({0x24, 15, 0}, "rmac_47_32"),
    known({0x28, 31, 0}, "rmac_31_0"),
};

inline constexpr FieldRule kDctc[] = {
    unmodelled(prm::dctc::state, "state"),
    known(prm::dctc::user_index, "user_index"),
    known(prm::dctc::cqn, "cqn"),
    unmodelled(prm::dctc::counter_set_id, "counter_set_id"),
    known(prm::dctc::atomic_mode, "atomic_mode"),
    known(prm::dctc::rre, "rre"),
    known(prm::dctc::rwe, "rwe"),
    known(prm::dctc::rae, "rae"),
    unmodelled(prm::dctc::cs_res, "cs_res"),
    known(prm::dctc::min_rnr_nak, "min_rnr_nak"),
    known(prm::dctc::srqn, "srqn_xrqn"),
    known(prm::dctc::pd, "pd"),
    known(prm::dctc::tclass, "tclass"),
    known(prm::dctc::flow_label, "flow_label"),
    known(high_half(prm::dctc::dc_access_key), "dc_access_key"),
    known(low_half(prm::dctc::dc_access_key), "dc_access_key"),
    known(prm::dctc::mtu, "mtu"),
    known(prm::dctc::port, "port"),
    known(prm::dctc::pkey_index, "pkey_index"),
    known(prm::dctc::my_addr_index, "my_addr_index"),
    known(prm::dctc::hop_limit, "hop_limit"),
    unmodelled(prm::dctc::key_violations, "dc_access_key_violation_count"),
    known(prm::dctc::eth_prio, "eth_prio"),
    unmodelled(prm::dctc::ecn, "ecn"),
    known(prm::dctc::dscp, "dscp"),
    unmodelled(prm::dctc::ece, "ece"),
};

inline constexpr FieldRule kCreateMkeyHeader[] = {
    unmodelled(create_mkey_at::input_mkey_index, "input_mkey_index"),
    unmodelled(create_mkey_at::pg_access, "pg_access"),
    known(create_mkey_at::umem_valid, "mkey_umem_valid"),
    unmodelled(create_mkey_at::function, "function_id"),
    known(create_mkey_at::list_octowords, "translations_octword_actual_size"),
    known(create_mkey_at::umem_id, "mkey_umem_id"),
    known(high_half(create_mkey_at::umem_offset), "mkey_umem_offset"),
    known(low_half(create_mkey_at::umem_offset), "mkey_umem_offset"),
};

inline constexpr FieldRule kMkc[] = {
    known(mkc::free, "free"),
    unmodelled(mkc::access_mode_high, "access_mode_4_2"),
    known(mkc::relaxed_ordering_write, "relaxed_ordering_write"),
    unmodelled(mkc::small_fence_on_read_response, "small_fence_on_rdma_read_response"),
    known(mkc::umr_en, "umr_en"),
    known(mkc::atomic, "a"),
    known(mkc::remote_write, "rw"),
    known(mkc::remote_read, "rr"),
    known(mkc::local_write, "lw"),
    known(mkc::local_read, "lr"),
    known(mkc::access_mode, "access_mode_1_0"),
    known(mkc::qpn, "qpn"),
    known(mkc::variant, "mkey_7_0"),
    unmodelled(mkc::length64, "length64"),
    unmodelled(mkc::bsf_en, "bsf_en"),
    unmodelled(mkc::sync_umr, "sync_umr"),
    unmodelled(mkc::expected_sigerr_count, "expected_sigerr_count"),
    known(mkc::remote_invalidate, "en_rinval"),
    known(mkc::pd, "pd"),
    known(high_half(mkc::start), "start_addr"),
    known(low_half(mkc::start), "start_addr"),
    known(high_half(mkc::length), "len"),
    known(low_half(mkc::length), "len"),
    unmodelled(mkc::bsf_octowords, "bsf_octword_size"),
    known(mkc::octowords, "translations_octword_size"),
    known(mkc::relaxed_ordering_read, "relaxed_ordering_read"),  // optional, so ignoring it is correct
    known(mkc::log_entity_bytes, "log_page_size"),
    unmodelled(mkc::crypto_en, "crypto_en"),
};

inline constexpr FieldRule kRmpc[] = {
    known(rmpc::state, "state"),
    known(rmpc::basic_cyclic, "basic_cyclic_rcv_wqe"),
    known(rmpc::wq_type, "wq_type"),
    unmodelled(rmpc::wq_signature, "wq_signature"),
    unmodelled(rmpc::end_padding_mode, "end_padding_mode"),
    unmodelled(rmpc::cd_slave, "cd_slave"),
    unmodelled(rmpc::hds, "log2_hds_buf_size"),
    unmodelled(rmpc::page_offset, "page_offset"),
    unmodelled(rmpc::low_water_mark, "lwm"),
    known(rmpc::pd, "pd"),
    known(rmpc::uar_page, "uar_page"),  // a receive queue rings no doorbell
    known(high_half(rmpc::dbr_addr), "dbr_addr"),
    known(low_half(rmpc::dbr_addr), "dbr_addr"),
    unmodelled(rmpc::hw_counter, "hw_counter"),
    unmodelled(rmpc::sw_counter, "sw_counter"),
    known(rmpc::log_stride, "log_wq_stride"),
    known(rmpc::log_page_size, "log_wq_pg_sz"),  // without meaning for a umem
    known(rmpc::log_size, "log_wq_sz"),
    known(rmpc::dbr_umem_valid, "dbr_umem_valid"),
    known(rmpc::wq_umem_valid, "wq_umem_valid"),
    unmodelled(rmpc::hairpin, "log_hairpin_num_packets"),
    unmodelled(rmpc::striding, "log_wqe_num_of_strides"),
    known(rmpc::dbr_umem_id, "dbr_umem_id"),
    known(rmpc::wq_umem_id, "wq_umem_id"),
    known(high_half(rmpc::wq_umem_offset), "wq_umem_offset"),
    known(low_half(rmpc::wq_umem_offset), "wq_umem_offset"),
};

inline constexpr FieldRule kNicVport[] = {
    unmodelled({0x08, 31, 31}, "other_vport"),
    unmodelled({0x08, 15, 0}, "vport_number"),
    unmodelled({0x0c, 26, 24}, "allowed_list_type"),
};

inline constexpr std::size_t kQpcAt = prm::modify_qp::kContext;
static_assert(prm::create_qp::kContext == kQpcAt && prm::query_qp::kContext == kQpcAt);

inline constexpr Section kQueryHcaCap[] = {{0, kCapHeader}};
inline constexpr Section kQueryVport[] = {{0, kHeader}, {0, kVport}};
inline constexpr Section kQueryVportGid[] = {{0, kHeader}, {0, kVport}, {0, kGidIndex}};
inline constexpr Section kQueryRoceAddress[] = {{0, kHeader}, {0, kRoceAddress}};
inline constexpr Section kNumbered[] = {{0, kHeader}, {0, kNumber}};
inline constexpr Section kCreateCq[] = {
    {0, kHeader}, {0, kCreateCqHeader}, {prm::create_cq::kContext, kCqc}, {0, kCreateCqTail}};
inline constexpr Section kCreateQp[] = {
    {0, kHeader}, {0, kCreateQpHeader}, {kQpcAt, kQpc}, {kQpcAt + prm::qpc::kPrimaryPath, kAds}, {0, kCreateQpTail}};
inline constexpr Section kCreateDct[] = {{0, kHeader}, {prm::create_dct::kContext, kDctc}};
inline constexpr Section kCreateMkey[] = {{0, kHeader}, {0, kCreateMkeyHeader}, {create_mkey_at::kContext, kMkc}};
inline constexpr Section kCreateRmp[] = {{0, kHeader}, {create_rmp_at::kContext, kRmpc}};
inline constexpr Section kQueryNicVport[] = {{0, kHeader}, {0, kNicVport}};
inline constexpr Section kQueryLag[] = {{0, kHeader}};
inline constexpr Section kModifyQp[] = {
    {0, kHeader}, {0, kNumber}, {0, kQpHeader}, {kQpcAt, kQpc}, {kQpcAt + prm::qpc::kPrimaryPath, kAds}};

}  // namespace table
}  // namespace marrow::cx7::fw
