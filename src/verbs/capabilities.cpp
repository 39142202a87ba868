// SPDX-License-Identifier: Apache-2.0
// See capabilities.h. Facts: where each capability stands [prm]; the timestamp rule [obs: the kernel's driver].
#include "verbs/capabilities.h"

#include "verbs/devx.h"

namespace marrow::verbs {
namespace {

namespace cap = prm::query_hca_cap;
using Reply = Mailbox<cap::kOutBytes>;

Reply query(ibv_context* context, cap::Type type) {
  Mailbox<cap::kInBytes> in(prm::Command::kQueryHcaCap);
  in.whole().set(prm::in::op_mod, static_cast<std::uint32_t>(type) << 1 | 1);  // as configured now, not the most
  Reply out;
  general_command(context, in.bytes, out.bytes);
  return out;
}

void take_general(const Reply& reply, Capabilities& to) {
  namespace general = prm::general_cap;
  const auto get = [&](prm::Field field) { return static_cast<std::uint8_t>(reply.get(cap::kCapability, field)); };
  to.link = get(general::port_type) == 1 ? LinkLayer::kEthernet : LinkLayer::kInfiniBand;
  to.rc = get(general::rc) != 0;
  to.dc = get(general::dct) != 0;
  to.compact_av = get(general::compact_address_vector) != 0;
  to.cq_overrun_ignore = get(general::cq_oi) != 0;
  to.atomic = get(general::atomic) != 0;
  to.roce = get(general::roce) != 0;
  to.cqe_version = get(general::cqe_version);
  to.log_max_sq_wqebbs = get(general::log_max_qp_sz);
  to.log_max_cqes = get(general::log_max_cq_sz);
  to.log_max_reads_issued = get(general::log_max_ra_req_qp);
  to.log_max_reads_answered = get(general::log_max_ra_res_qp);
  to.log_max_reads_issued_dc = get(general::log_max_ra_req_dc);
  to.log_max_message = get(general::log_max_msg);
  to.max_send_wqe_bytes = static_cast<std::uint16_t>(reply.get(cap::kCapability, general::max_wqe_sz_sq));
  to.max_send_wqe_bytes_dc = static_cast<std::uint16_t>(reply.get(cap::kCapability, general::max_wqe_sz_sq_dc));
}

void take_roce(const Reply& reply, Capabilities& to) {
  constexpr std::uint32_t kRealTimeOnly = 1;
  to.timestamp_format = reply.get(cap::kCapability, prm::roce_cap::qp_ts_format) == kRealTimeOnly ? 1 : 0;
  const auto least = reply.get(cap::kCapability, prm::roce_cap::min_src_udp_port);
  const auto most = reply.get(cap::kCapability, prm::roce_cap::max_src_udp_port);
  if (least == 0 || most < least) return;  // not told: the defaults are what every device takes
  to.min_udp_sport = static_cast<std::uint16_t>(least);
  to.max_udp_sport = static_cast<std::uint16_t>(most);
}

}  // namespace

Capabilities query_capabilities(ibv_context* context) {
  Capabilities found;
  take_general(query(context, cap::Type::kGeneral), found);
  if (found.atomic) {
    const Reply atomic = query(context, cap::Type::kAtomic);
    found.atomic_result_big_endian = atomic.get(cap::kCapability, prm::atomic_cap::req_8b_endianness_mode) == 0;
  }
  if (found.roce) take_roce(query(context, cap::Type::kRoce), found);
  return found;
}

}  // namespace marrow::verbs
