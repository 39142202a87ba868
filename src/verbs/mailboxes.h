// SPDX-License-Identifier: Apache-2.0
// The commands that make and connect our queues, as bytes. Pure functions: tests/verbs pins each against bytes written
// by hand. What is not named here stays zero.
// Facts: layouts and values [prm], as restated by the mlx5_ifc descriptions and the GPU libraries that use them.
#pragma once

#include <cstdint>

#include "verbs/address.h"
#include "verbs/mailbox.h"

namespace marrow::verbs {

struct CqParameters {
  std::uint32_t log_cqes = 0;
  std::uint32_t uar_page = 0;
  std::uint32_t eqn = 0;      // wanted even by a CQ that is never armed
  std::uint32_t umem_id = 0;  // entries at its start
  std::uint32_t dbrec_umem_id = 0;
  std::uint64_t dbrec_offset = 0;  // in that umem
  bool collapsed = false;
  bool overrun_ignore = false;
};
[[nodiscard]] Mailbox<prm::create_cq::kInBytes> create_cq(const CqParameters& cq);

/// The RQ of a QP: in the same umem, before the SQ.
struct RqParameters {
  bool any = false;            // else the QP only sends
  std::uint32_t log_wqes = 0;  // of 16 bytes
  std::uint32_t cqn = 0;
};

struct QpParameters {
  prm::ServiceType service = prm::ServiceType::kRc;  // or a DCI
  std::uint32_t pdn = 0;
  std::uint32_t log_sq_wqebbs = 0;
  std::uint32_t uar_page = 0;
  std::uint32_t cqn = 0;
  std::uint32_t umem_id = 0;  // RQ, SQ
  std::uint32_t dbrec_umem_id = 0;
  std::uint64_t dbrec_offset = 0;
  std::uint32_t timestamp_format = 0;
  std::uint32_t user_index = 0;  // stands in every CQE
  RqParameters rq = {};
};
[[nodiscard]] Mailbox<prm::create_qp::kInBytes> create_qp(const QpParameters& qp);

using ModifyMailbox = Mailbox<prm::modify_qp::kInBytes>;

/// What peers may do to our memory through the QP.
struct Access {
  bool atomics = true;
};
[[nodiscard]] ModifyMailbox rst2init(std::uint32_t qpn, std::uint8_t port, Access access);
[[nodiscard]] ModifyMailbox init2rtr(const Connection& connection);
[[nodiscard]] ModifyMailbox rtr2rts(const Connection& connection);

/// A DCI has no peer: nothing but its own port, how it sends, and what it waits for.
struct DciParameters {
  std::uint32_t qpn = 0;
  std::uint8_t port = 1;
  std::uint64_t key = 0;
  LinkLayer link{};
  Mtu mtu = Mtu::k1024;
  std::uint8_t log_reads = 0;
  std::uint32_t psn = 0;
  Behaviour behaviour;
};
[[nodiscard]] ModifyMailbox dci_rst2init(const DciParameters& dci);
[[nodiscard]] ModifyMailbox dci_init2rtr(const DciParameters& dci);
[[nodiscard]] ModifyMailbox dci_rtr2rts(const DciParameters& dci);

/// A DC target for RDMA and atomics. CQ and SRQ are wanted though nothing ever comes to them.
struct DctParameters {
  std::uint32_t pdn = 0;
  std::uint32_t cqn = 0;
  std::uint32_t srqn = 0;
  std::uint64_t key = 0;
  std::uint8_t port = 1;
  std::uint8_t gid_index = 0;
  LinkLayer link{};
  Mtu mtu = Mtu::k1024;
  std::uint32_t user_index = 0;
  Access access;
  Behaviour behaviour;
};
[[nodiscard]] Mailbox<prm::create_dct::kInBytes> create_dct(const DctParameters& dct);

using NumberMailbox = Mailbox<prm::query_qp::kInBytes>;
[[nodiscard]] NumberMailbox query_qp(std::uint32_t qpn);
[[nodiscard]] NumberMailbox qp_to_error(std::uint32_t qpn);

}  // namespace marrow::verbs
