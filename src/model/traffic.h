// SPDX-License-Identifier: Apache-2.0
// What endpoints of the model send to each other: who, over how many connections, in which order.
#pragma once

#include <cstdint>
#include <vector>

#include "model/profile.h"

namespace marrow::model {

enum class Pattern : std::uint8_t {
  kOneToMany,  // endpoint 0 sends to the `peers` after it
  kManyToOne,  // the `peers` after endpoint 0 send to it
  kEverybody,  // each sends to the `peers` after it, so that each receives from as many; peers = endpoints - 1: all to
               // all
};
enum class Order : std::uint8_t { kRoundRobin, kRandom };

/// An endpoint's warps share its connections out among them. Each visits its own in turn: it posts `writes_per_visit`
/// writes, a doorbell for each turn_wqes of them, and goes on when the next connection's send queue has room.
struct Traffic {
  Pattern pattern = Pattern::kEverybody;
  Order order = Order::kRoundRobin;
  std::uint32_t endpoints = 2;
  std::uint32_t peers = 1;                 // of each sender
  std::uint32_t connections_per_peer = 1;  // queue pairs from one sender to one peer
  std::uint32_t warps = 1;                 // of each sender, at most connections_per_peer
  std::uint32_t writes_per_visit = 1;
  std::uint32_t depth = 1024;  // writes that a send queue holds
  std::uint32_t bytes = 8;
  std::uint64_t seed = 1;

  /// Active at the endpoint in the middle, each way: what the paper's x axis counts.
  [[nodiscard]] std::uint32_t connections() const noexcept { return peers * connections_per_peer; }
  [[nodiscard]] std::uint64_t all_connections() const noexcept;
  [[nodiscard]] std::uint32_t senders() const noexcept;
  [[nodiscard]] std::uint32_t receivers() const noexcept;
};

/// Writes of one doorbell, and of one turn of a queue pair.
[[nodiscard]] std::uint32_t writes_per_turn(const Profile& profile, const Traffic& traffic);

/// \throws util::Error of kind kUsage for traffic that makes no sense or does not fit the model.
void refuse_nonsense(const Profile& profile, const Traffic& traffic);

/// One queue pair, seen from its sender. Those of a warp stand one behind another, in the order of its visits.
struct Connection {
  std::uint32_t sender = 0;
  std::uint32_t receiver = 0;
  std::uint32_t send_context = 0;     // number among its sender's contexts
  std::uint32_t receive_context = 0;  // number among its receiver's
  std::uint32_t warp = 0;
};
/// A warp's connections: [first, first + count) of Wiring::connections.
struct Warp {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
struct Wiring {
  std::vector<Connection> connections;
  std::vector<Warp> warps;
};
[[nodiscard]] Wiring wire_up(const Traffic& traffic);

}  // namespace marrow::model
