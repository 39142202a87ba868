// SPDX-License-Identifier: Apache-2.0
// What the firmware says the device can do (QUERY_HCA_CAP), as far as our queues depend on it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/address.h"

namespace marrow::verbs {

struct Capabilities {
  LinkLayer link{};
  bool rc = false;
  bool dc = false;          // DCIs and DCTs
  bool compact_av = false;  // a DCI's WQE may name its destination in 16 bytes
  bool cq_overrun_ignore = false;
  bool atomic = false;
  bool roce = false;
  std::uint8_t cqe_version = 0;
  std::uint8_t log_max_sq_wqebbs = 0;
  std::uint8_t log_max_cqes = 0;
  std::uint8_t log_max_reads_issued = 0;
  std::uint8_t log_max_reads_answered = 0;
  std::uint8_t log_max_reads_issued_dc = 0;
  std::uint8_t log_max_message = 0;
  std::uint16_t max_send_wqe_bytes = 0;
  std::uint16_t max_send_wqe_bytes_dc = 0;
  bool atomic_result_big_endian = false;  // of 8-byte fetch-add and compare-swap
  std::uint8_t timestamp_format = 0;      // what a QP context must say: 0 free running, 1 the device's default
  std::uint16_t min_udp_sport = 0xc000;
  std::uint16_t max_udp_sport = 0xffff;
};

/// Throws util::Error with the firmware's status when it refuses.
[[nodiscard]] Capabilities query_capabilities(ibv_context* context);

}  // namespace marrow::verbs
