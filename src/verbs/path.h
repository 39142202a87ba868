// SPDX-License-Identifier: Apache-2.0
// How packets get from this port to an address: subnet or router on InfiniBand, next hop and UDP port on RoCE.
#pragma once

#include <cstdint>

#include "verbs/address.h"
#include "verbs/context.h"

namespace marrow::verbs {

/// The address of a QP of ours, with a fresh random PSN: an old connection's packets must not fit the new one.
[[nodiscard]] Address make_address(const Context& context, std::uint32_t qpn);

/// Fills what the transitions need. Throws util::Error when the two link layers differ or the next hop is unknown.
[[nodiscard]] Connection resolve(const Context& context, const Pd& pd, const Address& local, const Address& remote,
                                 const Behaviour& behaviour);

/// UDP source port of a connection: spreads QP pairs over a fabric's paths, the same for both directions.
[[nodiscard]] std::uint16_t udp_source_port(std::uint32_t one_qpn, std::uint32_t other_qpn, const Capabilities& limits);

}  // namespace marrow::verbs
