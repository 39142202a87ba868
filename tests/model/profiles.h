// SPDX-License-Identifier: Apache-2.0
// Profiles whose times can be added up in one's head.
#pragma once

#include "model/profile.h"

namespace marrow::model {

/// Doorbell 100 ns, unit 10 ns and port 20 ns a message, 1000 ns there and back; a send context of one entry costs 5 ns
/// when it is missing, a receive context 50 ns. The cache holds everything.
inline Profile round_profile() {
  return {.name = "round",
          .of = "no NIC",
          .doorbell_ns = 100,
          .doorbell_to_cqe_ns = 1000,
          .message_rate_m_per_s = 50,
          .link_gb_per_s = 1000,
          .packet_overhead_bytes = 0,
          .mtu_bytes = 4096,
          .shared_rate_m_per_s = 100,
          .turn_wqes = 32,
          .receive_buffer_messages = 1024,
          .cache_entries = 1024,
          .cache_ways = 8,
          .send = {.entries = 1, .miss_ns = 5},
          .receive = {.entries = 1, .miss_ns = 50}};
}

}  // namespace marrow::model
