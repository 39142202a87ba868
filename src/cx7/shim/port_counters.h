// SPDX-License-Identifier: Apache-2.0
// The counters that a port shows below /sys, under the kernel's names, and what of ours each of them is. Only those
// that are true are there; what this device never does (congestion notification, link errors of a wire) has no file.
// Facts: names [abi: Documentation/ABI/stable/sysfs-class-infiniband]; what they count [prm: "Understanding mlx5 Linux
// counters"]; that data is in words of 4 bytes from LRH to ICRC [prm: IBA vol. 1, 16.1.3.5]. That on Ethernet it begins
// with the BTH, and that traffic which never leaves the host counts too, is ours [guess].
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "cx7/hca/counters.h"

namespace marrow::cx7 {

inline constexpr std::string_view kPortCounters = "counters";  // folders below ports/1
inline constexpr std::string_view kHardwareCounters = "hw_counters";

struct PortCounter {
  std::string_view folder;
  std::string_view name;
  /// \param front  words before the BTH of each packet that count: those of the LRH on InfiniBand, none on Ethernet
  std::uint64_t (*value)(const Counters& counts, std::uint64_t front);
};

inline constexpr std::uint64_t kLrhWords = 2;

// clang-format off
#define MARROW_PORT_COUNTER(folder, name, what) \
  PortCounter{folder, name, [](const Counters& c, [[maybe_unused]] std::uint64_t front) -> std::uint64_t { return what; }}
inline constexpr std::array kPortCounterTable = {
    MARROW_PORT_COUNTER(kPortCounters, "link_downed", c.link_downs),
    MARROW_PORT_COUNTER(kPortCounters, "port_rcv_data", c.words_received + front * c.packets_received),
    MARROW_PORT_COUNTER(kPortCounters, "port_rcv_packets", c.packets_received),
    MARROW_PORT_COUNTER(kPortCounters, "port_xmit_data", c.words_sent + front * c.packets_sent),
    MARROW_PORT_COUNTER(kPortCounters, "port_xmit_packets", c.packets_sent),
    MARROW_PORT_COUNTER(kPortCounters, "unicast_rcv_packets", c.packets_received),
    MARROW_PORT_COUNTER(kPortCounters, "unicast_xmit_packets", c.packets_sent),
    MARROW_PORT_COUNTER(kHardwareCounters, "duplicate_request", c.duplicates_received),
    MARROW_PORT_COUNTER(kHardwareCounters, "implied_nak_seq_err", c.responses_ahead),
    MARROW_PORT_COUNTER(kHardwareCounters, "local_ack_timeout_err", c.timeouts),
    MARROW_PORT_COUNTER(kHardwareCounters, "out_of_buffer", c.rnr_naks_sent + c.datagrams_without_receive),
    MARROW_PORT_COUNTER(kHardwareCounters, "out_of_sequence", c.out_of_sequence),
    MARROW_PORT_COUNTER(kHardwareCounters, "packet_seq_err", c.sequence_naks_received),
    MARROW_PORT_COUNTER(kHardwareCounters, "req_cqe_error", c.send_error_cqes),
    MARROW_PORT_COUNTER(kHardwareCounters, "req_cqe_flush_error", c.send_flush_cqes),
    MARROW_PORT_COUNTER(kHardwareCounters, "req_remote_access_errors", c.remote_access_errors),
    MARROW_PORT_COUNTER(kHardwareCounters, "req_remote_invalid_request", c.remote_invalid_requests),
    MARROW_PORT_COUNTER(kHardwareCounters, "resp_cqe_error", c.receive_error_cqes),
    MARROW_PORT_COUNTER(kHardwareCounters, "resp_cqe_flush_error", c.receive_flush_cqes),
    MARROW_PORT_COUNTER(kHardwareCounters, "resp_local_length_error", c.receives_too_short),
    MARROW_PORT_COUNTER(kHardwareCounters, "resp_remote_access_errors", c.access_errors_found),
    MARROW_PORT_COUNTER(kHardwareCounters, "rnr_nak_retry_err", c.rnr_naks_received),
    MARROW_PORT_COUNTER(kHardwareCounters, "rx_atomic_requests", c.atomic_requests),
    MARROW_PORT_COUNTER(kHardwareCounters, "rx_read_requests", c.read_requests),
    MARROW_PORT_COUNTER(kHardwareCounters, "rx_write_requests", c.write_requests),
};
#undef MARROW_PORT_COUNTER
// clang-format on

}  // namespace marrow::cx7
