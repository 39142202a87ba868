// SPDX-License-Identifier: Apache-2.0
// QUERY_HCA_CAP: what this device can do. A capability bit is set when the thing behind it is modelled, never to
// please a caller; what is not named here reads as zero.
#include <algorithm>
#include <iterator>

#include "cx7/fw/command.h"
#include "cx7/fw/limits.h"
#include "cx7/fw/port.h"
#include "cx7/hca/key_layout.h"

namespace marrow::cx7::fw {
namespace {

namespace prm = wire::prm;
using prm::set;

// What only this side names.
namespace keys {
constexpr prm::Field log_max_mkey{0x1c, 21, 16};
constexpr prm::Field repeated_mkey{0x1c, 8, 8};
constexpr prm::Field max_indirection{0x20, 31, 24};
constexpr prm::Field fixed_buffer_size{0x20, 23, 23};
constexpr prm::Field log_max_mrw_sz{0x20, 22, 16};
constexpr prm::Field log_max_klm_list_size{0x20, 5, 0};
constexpr prm::Field umr_modify_entity_size_disabled{0x40, 24, 24};
}  // namespace keys
namespace paging {
constexpr prm::Field pg{0x44, 24, 24};  // of the general capabilities
constexpr prm::Field rc{0x10, 31, 0};
constexpr prm::Field ud{0x18, 31, 0};
constexpr prm::Field xrc{0x1c, 31, 0};
constexpr prm::Field dc{0x20, 31, 0};
}  // namespace paging
namespace pools {
constexpr prm::Field basic_cyclic_rcv_wqe{0x70, 31, 31};
constexpr prm::Field log_max_rmp{0x70, 28, 24};
}  // namespace pools

// Lists of pieces, equal or not, and interleaved ones; behind them regions alone.
void memory_keys(std::byte* cap) {
  set(cap, keys::log_max_mkey, kLogMaxObjects);
  set(cap, keys::repeated_mkey, 1);
  set(cap, keys::max_indirection, 1);
  set(cap, keys::fixed_buffer_size, 1);
  set(cap, keys::log_max_mrw_sz, kLogMaxRegionBytes);
  set(cap, keys::log_max_klm_list_size, kLogMaxLayoutEntries);
  set(cap, keys::umr_modify_entity_size_disabled, 1);
}

void receive_pools(std::byte* cap) {
  set(cap, pools::basic_cyclic_rcv_wqe, 1);
  set(cap, pools::log_max_rmp, kLogMaxObjects);
}

void general(std::byte* cap) {
  namespace c = prm::general_cap;
  const bool ethernet = link_layer() == LinkLayer::kEthernet;
  set(cap, c::log_max_qp_sz, kLogMaxSqWqebbs);
  set(cap, c::log_max_qp, kLogMaxObjects);
  set(cap, c::log_max_cq_sz, kLogMaxCqEntries);
  set(cap, c::log_max_cq, kLogMaxObjects);
  set(cap, c::log_max_ra_req_dc, kLogMaxReads);
  set(cap, c::log_max_ra_res_dc, kLogMaxReads);
  set(cap, c::log_max_ra_req_qp, kLogMaxReads);
  set(cap, c::log_max_ra_res_qp, kLogMaxReads);
  set(cap, c::port_type, ethernet ? 1 : 0);
  set(cap, c::num_ports, kPorts);
  set(cap, c::log_max_msg, kLogMaxMessage);
  set(cap, c::cqe_version, 1);
  set(cap, c::compact_address_vector, ethernet ? 0 : 1);  // it has no room for a GID
  set(cap, c::dct, 1);
  set(cap, c::roce, ethernet ? 1 : 0);
  set(cap, c::atomic, 1);
  set(cap, c::cq_oi, 1);
  set(cap, c::rc, 1);
  set(cap, c::uar_4k, 1);
  set(cap, c::bf, 1);
  set(cap, c::log_bf_reg_size, kLogBlueFlameBytes);
  set(cap, c::max_wqe_sz_sq, kMaxSendWqeBytes);
  set(cap, c::max_wqe_sz_rq, kMaxRecvWqeBytes);
  set(cap, c::max_wqe_sz_sq_dc, kMaxSendWqeBytes);
  set(cap, c::log_uar_page_sz, 0);  // in units of 4 KiB
  set(cap, c::num_of_uars_per_page, 1);
}

// Mode 1: operands in memory and results are in host order.
void atomic(std::byte* cap) {
  set(cap, prm::atomic_cap::req_8b_endianness_mode, 1);
  set(cap, prm::atomic_cap::supported_req_8b_endianness_mode_1, 1);
  set(cap, prm::atomic_cap::operations, 0b1111);  // compare-swap, fetch-add, and both masked
  set(cap, prm::atomic_cap::size_qp, 8 | 4);      // operands of 8 bytes, masked ones also of 4
  set(cap, prm::atomic_cap::size_dc, 8 | 4);
}

void roce(std::byte* cap) {
  namespace c = prm::roce_cap;
  set(cap, c::qp_ts_format, 0);
  set(cap, c::roce_version, 0b101);  // bit 0 v1, bit 2 v2
  set(cap, c::dest_udp_port, kRoceUdpPort);
  set(cap, c::max_src_udp_port, kMaxUdpSourcePort);
  set(cap, c::min_src_udp_port, kMinUdpSourcePort);
  set(cap, c::address_table_size, kGidTableLength);
}

// Paging on demand, a word a transport: sends, receives, writes, reads, atomics, receives of an SRQ from the top bit
// on.
void on_demand(std::byte* cap) {
  constexpr std::uint32_t kConnected = 0xfc000000;
  constexpr std::uint32_t kSends = 0x80000000;
  set(cap, paging::rc, kConnected);
  set(cap, paging::ud, kSends);
  set(cap, paging::xrc, kConnected);
  set(cap, paging::dc, kConnected);
}

// Types that a ConnectX-7 answers and of which nothing is modelled: every bit of theirs is clear. Three of flow
// steering, packet pacing, device memory, encryption, and the second page of general ones [prm].
constexpr std::uint32_t kNothingOf[] = {0x7, 0x8, 0x9, 0xc, 0xf, 0x1a, 0x20};

}  // namespace

Reply query_hca_cap(Client&, const std::byte* in, std::byte* out) {
  using Type = prm::query_hca_cap::Type;
  std::byte* const cap = out + prm::query_hca_cap::kCapability;
  const auto type = prm::get(in, prm::in::op_mod) >> 1;
  switch (static_cast<Type>(type)) {
    case Type::kGeneral:
      general(cap);
      memory_keys(cap);
      receive_pools(cap);
      set(cap, paging::pg, 1);
      return {};
    case Type::kAtomic:
      atomic(cap);
      return {};
    case Type::kRoce:
      if (link_layer() != LinkLayer::kEthernet)
        return refuse(CommandStatus::kBadParameter, "RoCE capabilities: not a RoCE port");
      roce(cap);
      return {};
    case Type::kOdp:
      on_demand(cap);
      return {};
    case Type::kGeneral2:
      break;
  }
  if (std::find(std::begin(kNothingOf), std::end(kNothingOf), type) != std::end(kNothingOf)) return {};
  return refuse(CommandStatus::kBadParameter, "capability type not modelled");
}

}  // namespace marrow::cx7::fw
