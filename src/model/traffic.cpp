// SPDX-License-Identifier: Apache-2.0
// Who is connected to whom.
#include "model/traffic.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/error.h"

namespace marrow::model {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw util::Error(sentence, util::ErrorKind::kUsage);
}

/// The sender's `n`th peer. Each warp begins with another, so that not all start on the same receiver.
std::uint32_t peer_of(const Traffic& traffic, std::uint32_t sender, std::uint32_t n) {
  return traffic.pattern == Pattern::kManyToOne ? 0 : (sender + 1 + n % traffic.peers) % traffic.endpoints;
}

class Builder {
 public:
  explicit Builder(const Traffic& traffic)
      : traffic_(traffic), sending_(traffic.endpoints), receiving_(traffic.endpoints) {
    built_.connections.reserve(traffic.all_connections());
  }

  Wiring build() {
    const std::uint32_t first = traffic_.pattern == Pattern::kManyToOne ? 1 : 0;
    for (std::uint32_t i = 0; i < traffic_.senders(); ++i) {
      for (std::uint32_t warp = 0; warp < traffic_.warps; ++warp) add_warp(first + i, warp);
    }
    return std::move(built_);
  }

 private:
  /// Every `warps`th queue pair of each peer, peer after peer.
  void add_warp(std::uint32_t sender, std::uint32_t warp) {
    Warp added{.first = static_cast<std::uint32_t>(built_.connections.size())};
    const std::uint32_t peers = traffic_.pattern == Pattern::kManyToOne ? 1 : traffic_.peers;
    for (std::uint32_t lane = warp; lane < traffic_.connections_per_peer; lane += traffic_.warps) {
      for (std::uint32_t i = 0; i < peers; ++i) add(sender, peer_of(traffic_, sender, i + warp));
    }
    added.count = static_cast<std::uint32_t>(built_.connections.size()) - added.first;
    built_.warps.push_back(added);
  }

  void add(std::uint32_t sender, std::uint32_t receiver) {
    built_.connections.push_back({.sender = sender,
                                  .receiver = receiver,
                                  .send_context = sending_[sender]++,
                                  .receive_context = receiving_[receiver]++,
                                  .warp = static_cast<std::uint32_t>(built_.warps.size())});
  }

  const Traffic& traffic_;
  Wiring built_;
  std::vector<std::uint32_t> sending_;  // contexts so far, by endpoint
  std::vector<std::uint32_t> receiving_;
};

}  // namespace

std::uint32_t Traffic::senders() const noexcept {
  if (pattern == Pattern::kOneToMany) return 1;
  return pattern == Pattern::kManyToOne ? peers : endpoints;
}
std::uint32_t Traffic::receivers() const noexcept {
  if (pattern == Pattern::kManyToOne) return 1;
  return pattern == Pattern::kOneToMany ? peers : endpoints;
}

std::uint64_t Traffic::all_connections() const noexcept {
  const std::uint64_t of_each = std::uint64_t{peers} * connections_per_peer;
  return pattern == Pattern::kEverybody ? endpoints * of_each : of_each;
}

std::uint32_t writes_per_turn(const Profile& profile, const Traffic& traffic) {
  return std::min(profile.turn_wqes, traffic.writes_per_visit);
}

void refuse_nonsense(const Profile& profile, const Traffic& traffic) {
  constexpr std::uint64_t kMostConnections = 1 << 24;
  if (traffic.endpoints < 2) refuse(fmt::format("{} endpoint has nobody to send to", traffic.endpoints));
  if (traffic.peers == 0 || traffic.peers >= traffic.endpoints) {
    refuse(fmt::format("{} peers are not possible among {} endpoints", traffic.peers, traffic.endpoints));
  }
  if (traffic.warps == 0 || traffic.warps > traffic.connections_per_peer) {
    refuse(fmt::format("{} warps can not share {} connections to a peer", traffic.warps, traffic.connections_per_peer));
  }
  if (traffic.bytes == 0 || traffic.writes_per_visit == 0) refuse("a visit without a byte to write is none");
  const auto writes = writes_per_turn(profile, traffic);
  if (traffic.writes_per_visit % writes != 0) {
    refuse(fmt::format("{} writes a visit are not a multiple of the turn's {}", traffic.writes_per_visit, writes));
  }
  if (traffic.depth < writes) {
    refuse(fmt::format("a send queue of {} has no room for the {} writes of a turn", traffic.depth, writes));
  }
  if (traffic.all_connections() > kMostConnections) {
    refuse(fmt::format("{} connections are more than {}", traffic.all_connections(), kMostConnections));
  }
}

Wiring wire_up(const Traffic& traffic) {
  return Builder(traffic).build();
}

}  // namespace marrow::model
