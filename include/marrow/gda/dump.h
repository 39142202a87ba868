// SPDX-License-Identifier: Apache-2.0
// Host only: a QueueDump as text, for the message behind a time-out or an error. Aside of stop 9.
#pragma once

#include <cstring>
#include <sstream>
#include <string>

#include "marrow/gda/send_queue.h"

namespace marrow::gda {

inline std::string format_result(const Result& r) {
  std::ostringstream out;
  out << status_name(r.status);
  if (!r.ok() && static_cast<std::uint8_t>(r.status) != static_cast<std::uint8_t>(Status::kTimeout)) {
    out << std::hex << " (syndrome 0x" << unsigned{r.syndrome} << ", vendor 0x" << unsigned{r.vendor} << std::dec
        << ", WQEBB " << r.wqe_counter << ")";
  }
  return out.str();
}

/// Four lines: indices, dbrec, last CQE, error. Says it when dbrec and pi disagree, for then the NIC flushes wrongly.
inline std::string format_dump(const QueueDump& d) {
  wire::Cqe cqe;
  std::memcpy(&cqe, d.cqe_words, sizeof cqe);
  const wire::be32 expected = wire::dbrec_value(d.counters.pi);
  wire::be32 dbrec;
  dbrec.raw = d.dbrec_raw;
  std::ostringstream out;
  out << "qp 0x" << std::hex << d.qp.qpn << std::dec << ": pi " << d.counters.pi << ", ci " << d.counters.ci
      << ", reserved " << d.reserved << ", ring " << d.qp.sq_wqebbs << " WQEBBs, CQEs " << d.counters.cqes << "\n";
  out << "dbrec: " << dbrec.host() << (dbrec == expected ? " (is pi)" : " (is NOT pi modulo 65536)") << "\n";
  out << (d.qp.cq_layout == CqLayout::kRing ? "next cqe: " : "last cqe: ");
  if (cqe.opcode() == wire::CqeOpcode::kInvalid) {
    out << "none written\n";
  } else {
    out << "opcode " << unsigned(cqe.op_own >> 4) << ", owner " << unsigned{cqe.owner()} << ", WQEBB "
        << cqe.wqe_counter.host() << ", qp 0x" << std::hex << cqe.qpn() << std::dec;
    if (cqe.is_error()) {
      out << ", " << wire::syndrome_name(cqe.syndrome) << std::hex << " (0x" << unsigned(cqe.syndrome) << ", vendor 0x"
          << unsigned{cqe.vendor_syndrome} << std::dec << ")";
    }
    out << "\n";
  }
  out << "first error: " << format_result(d.counters.error) << "\n";
  return out.str();
}

}  // namespace marrow::gda
