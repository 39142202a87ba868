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
  if (r.ok() || r.status == Status::kTimeout) return out.str();
  out << std::hex << " (syndrome 0x" << unsigned{r.syndrome} << ", vendor 0x" << unsigned{r.vendor} << std::dec
      << ", WQEBB " << r.wqe_counter << ")";
  return out.str();
}

inline std::string format_cqe(const wire::Cqe& cqe) {
  if (cqe.opcode() == wire::CqeOpcode::kInvalid) return "none written";
  std::ostringstream out;
  out << "opcode " << unsigned(cqe.op_own >> 4) << ", owner " << unsigned{cqe.owner()} << ", WQEBB "
      << cqe.wqe_counter.host() << std::hex << ", qp 0x" << cqe.qpn();
  if (cqe.is_error()) {
    out << ", " << wire::syndrome_name(cqe.syndrome) << " (0x" << unsigned(cqe.syndrome) << ", vendor 0x"
        << unsigned{cqe.vendor_syndrome} << ")";
  }
  return out.str();
}

/// Four lines: indices, dbrec, CQE, error. Says it when dbrec and pi disagree, for then the NIC flushes wrongly.
inline std::string format_dump(const QueueDump& d) {
  wire::Cqe cqe;
  std::memcpy(&cqe, d.cqe_words, sizeof cqe);
  const auto& c = d.counters;
  const bool right = d.dbrec_raw == wire::dbrec_value(c.pi).raw;
  std::ostringstream out;
  out << "qp 0x" << std::hex << d.qp.qpn << std::dec << ": pi " << c.pi << ", ci " << c.ci << ", reserved "
      << d.reserved << ", ring " << d.qp.sq_wqebbs << " WQEBBs, CQEs " << c.cqes << "\n"
      << "dbrec: " << wire::swap_bytes(d.dbrec_raw) << (right ? " (is pi)" : " (is NOT pi modulo 65536)") << "\n"
      << (d.qp.cq_layout == CqLayout::kRing ? "next cqe: " : "last cqe: ") << format_cqe(cqe) << "\n"
      << "first error: " << format_result(c.error) << "\n";
  return out.str();
}

}  // namespace marrow::gda
