// SPDX-License-Identifier: Apache-2.0
// Before stop 1, for dynamically connected queues: a target that any number of DCIs may write to, and the address
// vector by which a DCI's lane names it.
//
//   Dct target(context_b, pd_b, {.key = 0x1234});
//   DevxQp dci(context_a, pd_a, {.service = wire::prm::ServiceType::kDci});
//   dci.start();
//   const wire::AddressVector to = address_vector(context_a, pd_a, target.address());
//   sq.aim(to);
#pragma once

#include <cstdint>

#include "marrow/wire/dc.h"
#include "verbs/address.h"
#include "verbs/context.h"
#include "verbs/handle.h"

namespace marrow::verbs {

/// A DCT as an initiator must know it. Plain data.
struct DctAddress {
  Address at;  // `qpn` is the DCT's number
  std::uint64_t key = 0;
};

struct DctOptions {
  std::uint64_t key = 0;
  std::uint32_t user_index = 0;
  Behaviour behaviour = {};
};

/// For RDMA and atomics: it has a CQ and an SRQ, as the device wants it, and never uses them.
class Dct {
 public:
  /// Active at once. Throws util::Error: kUsage when the device has no DC transport, kFailed when it refuses.
  Dct(const Context& context, const Pd& pd, const DctOptions& options);

  [[nodiscard]] std::uint32_t number() const { return address_.at.qpn; }
  [[nodiscard]] const DctAddress& address() const { return address_; }
  /// DCIs that came with another key, as the firmware has counted them.
  [[nodiscard]] std::uint32_t key_violations() const;

 private:
  CqHandle cq_;
  SrqHandle srq_;
  DevxHandle dct_;
  DctAddress address_;
};

/// How a DCI of `context` reaches `target`. Good for WQEs with 48 bytes of address; for those with 16 only where
/// is_compact().
[[nodiscard]] wire::AddressVector address_vector(const Context& context, const Pd& pd, const DctAddress& target,
                                                 const Behaviour& behaviour = {});
/// True when 16 bytes are enough: a device that takes them, an InfiniBand port, and no router on the way.
[[nodiscard]] bool is_compact(const Context& context, const DctAddress& target);

}  // namespace marrow::verbs
