// SPDX-License-Identifier: Apache-2.0
// CREATE_RMP's mailbox and the contexts in it, which only the software NIC reads and writes: a receive memory pool and
// its work queue. Facts: positions [prm, as open drivers restate them].
#pragma once

#include "marrow/wire/prm.h"

namespace marrow::cx7::fw {

inline constexpr auto kCreateRmp = static_cast<wire::prm::Command>(0x90c);

namespace create_rmp_at {
inline constexpr std::size_t kContext = 0x20;  // of QUERY_RMP's reply, too
}  // namespace create_rmp_at

namespace rmpc {
using wire::prm::Field;
using wire::prm::Field64;
inline constexpr Field state{0x00, 23, 20};
inline constexpr Field basic_cyclic{0x04, 31, 31};  // WQEs without the segment that names a successor
inline constexpr std::size_t kWq = 0x30;
// Of the work queue, from the context's front.
inline constexpr Field wq_type{kWq + 0x00, 31, 28};
inline constexpr Field wq_signature{kWq + 0x00, 27, 27};
inline constexpr Field end_padding_mode{kWq + 0x00, 26, 25};
inline constexpr Field cd_slave{kWq + 0x00, 24, 24};
inline constexpr Field hds{kWq + 0x04, 31, 28};
inline constexpr Field page_offset{kWq + 0x04, 20, 16};
inline constexpr Field low_water_mark{kWq + 0x04, 15, 0};
inline constexpr Field pd{kWq + 0x08, 23, 0};
inline constexpr Field uar_page{kWq + 0x0c, 23, 0};
inline constexpr Field64 dbr_addr{kWq + 0x10};
inline constexpr Field hw_counter{kWq + 0x18, 31, 0};
inline constexpr Field sw_counter{kWq + 0x1c, 31, 0};
inline constexpr Field log_stride{kWq + 0x20, 19, 16};
inline constexpr Field log_page_size{kWq + 0x20, 12, 8};
inline constexpr Field log_size{kWq + 0x20, 4, 0};
inline constexpr Field dbr_umem_valid{kWq + 0x24, 31, 31};
inline constexpr Field wq_umem_valid{kWq + 0x24, 30, 30};
inline constexpr Field hairpin{kWq + 0x24, 29, 16};
inline constexpr Field striding{kWq + 0x24, 11, 0};
inline constexpr Field dbr_umem_id{kWq + 0x28, 31, 0};
inline constexpr Field wq_umem_id{kWq + 0x2c, 31, 0};
inline constexpr Field64 wq_umem_offset{kWq + 0x30};
}  // namespace rmpc

}  // namespace marrow::cx7::fw
