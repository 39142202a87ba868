// SPDX-License-Identifier: Apache-2.0
// CREATE_MKEY's mailbox and the context of a memory key, which only the software NIC reads and writes.
// Facts: positions [prm, as open drivers restate them]; access modes [prm].
#pragma once

#include "marrow/wire/prm.h"

namespace marrow::cx7::fw {

namespace create_mkey_at {
using wire::prm::Field;
using wire::prm::Field64;
inline constexpr std::size_t kInBytes = 0x110;
inline constexpr std::size_t kContext = 0x10;  // of QUERY_MKEY's reply, too
inline constexpr Field input_mkey_index{0x08, 23, 0};
inline constexpr Field pg_access{0x0c, 31, 31};
inline constexpr Field umem_valid{0x0c, 30, 30};
inline constexpr Field function{0x0c, 29, 0};
inline constexpr Field list_octowords{0x60, 31, 0};  // of the list that follows
inline constexpr Field umem_id{0x64, 31, 0};
inline constexpr Field64 umem_offset{0x68};
}  // namespace create_mkey_at

namespace mkc {
using wire::prm::Field;
using wire::prm::Field64;
inline constexpr Field free{0x00, 30, 30};
inline constexpr Field access_mode_high{0x00, 28, 26};
inline constexpr Field relaxed_ordering_write{0x00, 18, 18};
inline constexpr Field small_fence_on_read_response{0x00, 16, 16};
inline constexpr Field umr_en{0x00, 15, 15};
inline constexpr Field atomic{0x00, 14, 14};
inline constexpr Field remote_write{0x00, 13, 13};
inline constexpr Field remote_read{0x00, 12, 12};
inline constexpr Field local_write{0x00, 11, 11};
inline constexpr Field local_read{0x00, 10, 10};
inline constexpr Field access_mode{0x00, 9, 8};
inline constexpr Field qpn{0x04, 31, 8};
inline constexpr Field variant{0x04, 7, 0};
inline constexpr Field length64{0x0c, 31, 31};
inline constexpr Field bsf_en{0x0c, 30, 30};
inline constexpr Field sync_umr{0x0c, 29, 29};
inline constexpr Field expected_sigerr_count{0x0c, 26, 26};
inline constexpr Field remote_invalidate{0x0c, 24, 24};
inline constexpr Field pd{0x0c, 23, 0};
inline constexpr Field64 start{0x10};
inline constexpr Field64 length{0x18};
inline constexpr Field bsf_octowords{0x20, 31, 0};
inline constexpr Field octowords{0x34, 31, 0};  // room for what it shows
inline constexpr Field relaxed_ordering_read{0x38, 6, 6};
inline constexpr Field log_entity_bytes{0x38, 4, 0};  // of a page, or of each entry
inline constexpr Field crypto_en{0x3c, 28, 27};
}  // namespace mkc

}  // namespace marrow::cx7::fw
