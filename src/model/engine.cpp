// SPDX-License-Identifier: Apache-2.0
// The model's reactions, one function an event. Stations that serve in order and wait for nobody (the submitter of
// doorbells, the receiver's port) are a time at which they are free again; the others start when something is there.
#include "model/engine.h"

#include <algorithm>
#include <cmath>

#include "util/error.h"

namespace marrow::model {
namespace {

Picoseconds picoseconds(double ns) {
  return std::llround(ns * 1e3);
}

/// A rate of 1 million a second is 1000 ns each.
double ns_at(double m_per_s) {
  return 1e3 / m_per_s;
}

/// The slower of the port's rate of messages and the link's of bytes.
double port_ns(const Profile& profile, std::uint32_t bytes) {
  const double packets = std::ceil(bytes / static_cast<double>(profile.mtu_bytes));
  const double on_wire = bytes + packets * profile.packet_overhead_bytes;
  return std::max(packets * ns_at(profile.message_rate_m_per_s), on_wire / profile.link_gb_per_s);
}

/// Turns that a receive buffer has room for.
std::uint32_t places_of(const Profile& profile, std::uint32_t writes) {
  return std::max(profile.receive_buffer_messages / writes, 1U);
}

const Traffic& sensible(const Profile& profile, const Traffic& traffic) {
  refuse_nonsense(profile, traffic);
  return traffic;
}

}  // namespace

Engine::Engine(const Profile& profile, const Traffic& traffic)
    : profile_(profile),
      order_(sensible(profile, traffic).order),
      depth_(traffic.depth),
      writes_per_visit_(traffic.writes_per_visit),
      writes_(writes_per_turn(profile, traffic)),
      doorbell_time_(picoseconds(profile.doorbell_ns)),
      way_time_(picoseconds(profile.doorbell_to_cqe_ns / 2)),
      unit_time_(picoseconds(writes_ * ns_at(profile.shared_rate_m_per_s))),
      port_time_(picoseconds(writes_ * port_ns(profile, traffic.bytes))),
      send_miss_time_(picoseconds(profile.send.miss_ns)),
      receive_miss_time_(picoseconds(profile.receive.miss_ns)),
      wiring_(wire_up(traffic)),
      queues_(wiring_.connections.size()),
      visits_(wiring_.warps.size()),
      random_(mixed(traffic.seed)),
      events_(wiring_.warps.size() + std::size_t{traffic.endpoints} * (4 + places_of(profile, writes_))) {
  nics_.reserve(traffic.endpoints);
  for (std::uint32_t i = 0; i < traffic.endpoints; ++i) {
    nics_.emplace_back(profile, places_of(profile, writes_), mixed(traffic.seed ^ mixed(i)));
  }
  for (std::uint32_t warp = 0; warp < visits_.size(); ++warp) {
    visits_[warp].connection = wiring_.warps[warp].first;
    post(warp);
  }
}

void Engine::run(std::uint64_t turns) {
  const auto until = turns_received_ + turns;
  while (turns_received_ < until) {
    if (events_.empty()) throw util::Error("the model stands still: no event is left");
    step();
  }
}

void Engine::step() {
  const auto event = events_.take();
  now_ = event.time;
  switch (event.kind) {
    case EventKind::kDoorbell:
      return on_doorbell(event.subject);
    case EventKind::kUnitDone:
      return on_unit_done(event.subject);
    case EventKind::kSent:
      return on_sent(event.subject);
    case EventKind::kArrival:
      return on_arrival(event.subject);
    case EventKind::kCompletion:
      return on_completion(event.subject);
  }
}

/// Rings for the warp's next turn of writes, or lets it wait for room.
void Engine::post(std::uint32_t warp) {
  auto& visit = visits_[warp];
  auto& queue = queues_[visit.connection];
  visit.waits_for_room = queue.outstanding + writes_ > depth_;
  if (visit.waits_for_room) return;
  queue.outstanding += writes_;
  auto& free = nics_[wiring_.connections[visit.connection].sender].doorbell_free;
  free = std::max(free, now_) + doorbell_time_;
  events_.add(free, EventKind::kDoorbell, warp);
}

void Engine::on_doorbell(std::uint32_t warp) {
  const auto connection = visits_[warp].connection;
  auto& nic = nics_[wiring_.connections[connection].sender];
  if (queues_[connection].rung++ == 0) {
    (nic.last_in_turn == kNone ? nic.first_in_turn : queues_[nic.last_in_turn].next) = connection;
    nic.last_in_turn = connection;
  }
  kick(wiring_.connections[connection].sender);
  visits_[warp].written += writes_;
  if (visits_[warp].written == writes_per_visit_) next_connection(warp);
  post(warp);
}

void Engine::next_connection(std::uint32_t warp) {
  auto& visit = visits_[warp];
  const auto& mine = wiring_.warps[warp];
  visit.written = 0;
  visit.at = order_ == Order::kRandom ? random_.below(mine.count) : (visit.at + 1) % mine.count;
  visit.connection = mine.first + visit.at;
}

/// Gives an idle unit its next job. Where both directions have one, it is the turn of the one that was not served last.
void Engine::kick(std::uint32_t at) {
  auto& nic = nics_[at];
  if (nic.unit_is_busy) return;
  const bool can_send = nic.first_in_turn != kNone && nic.behind_port == kNone;
  const bool can_receive = nic.arrived_count > 0;
  if (can_send && (!can_receive || nic.unit_role == Role::kReceive)) return start_send(at);
  if (can_receive) start_receive(at);
}

void Engine::start_send(std::uint32_t at) {
  auto& nic = nics_[at];
  const auto connection = nic.first_in_turn;
  auto& queue = queues_[connection];
  nic.first_in_turn = queue.next;
  queue.next = kNone;
  if (nic.first_in_turn == kNone) nic.last_in_turn = kNone;
  if (--queue.rung > 0) {
    (nic.last_in_turn == kNone ? nic.first_in_turn : queues_[nic.last_in_turn].next) = connection;
    nic.last_in_turn = connection;
  }
  occupy_unit(at, Role::kSend, connection);
}

void Engine::start_receive(std::uint32_t at) {
  auto& nic = nics_[at];
  const auto connection = nic.arrived[nic.first_arrived];
  nic.first_arrived = (nic.first_arrived + 1) % static_cast<std::uint32_t>(nic.arrived.size());
  --nic.arrived_count;
  occupy_unit(at, Role::kReceive, connection);
}

void Engine::occupy_unit(std::uint32_t at, Role role, std::uint32_t connection) {
  auto& nic = nics_[at];
  const auto& wires = wiring_.connections[connection];
  const auto missed = misses(nic, role, role == Role::kSend ? wires.send_context : wires.receive_context);
  nic.unit_is_busy = true;
  nic.unit_role = role;
  nic.unit_connection = connection;
  const auto miss_time = role == Role::kSend ? send_miss_time_ : receive_miss_time_;
  events_.add(now_ + unit_time_ + missed * miss_time, EventKind::kUnitDone, at);
}

/// Entries of a context that the cache lacks; afterwards it has them. Keys: a context's number, role and entry.
std::uint32_t Engine::misses(Nic& nic, Role role, std::uint32_t context) {
  const bool sends = role == Role::kSend;
  const auto entries = sends ? profile_.send.entries : profile_.receive.entries;
  const std::uint32_t first = (context * 2 + (sends ? 0 : 1)) * 64;
  std::uint32_t missed = 0;
  for (std::uint32_t i = 0; i < entries; ++i) missed += nic.cache.touch(first + i) ? 0 : 1;
  (sends ? nic.counts.send_misses : nic.counts.receive_misses) += missed;
  return missed;
}

void Engine::on_unit_done(std::uint32_t at) {
  auto& nic = nics_[at];
  const auto connection = nic.unit_connection;
  nic.unit_is_busy = false;
  if (nic.unit_role == Role::kReceive) {
    nic.counts.received += writes_;
    ++turns_received_;
    give_place(nic);
    events_.add(now_ + way_time_, EventKind::kCompletion, connection);
  } else if (nic.in_port == kNone) {
    transmit(at, connection);
  } else {
    nic.behind_port = connection;
  }
  kick(at);
}

/// Sends the turn, or waits behind others for a place at its receiver.
void Engine::transmit(std::uint32_t at, std::uint32_t connection) {
  auto& nic = nics_[at];
  auto& receiver = nics_[wiring_.connections[connection].receiver];
  nic.in_port = connection;
  if (receiver.places > 0) {
    --receiver.places;
    return begin_transmission(at);
  }
  nic.next_waiting = kNone;
  (receiver.last_waiting == kNone ? receiver.first_waiting : nics_[receiver.last_waiting].next_waiting) = at;
  receiver.last_waiting = at;
}

void Engine::begin_transmission(std::uint32_t at) {
  events_.add(now_ + port_time_, EventKind::kSent, at);
}

/// A place of the receive buffer goes to the NIC that waits longest, or is free.
void Engine::give_place(Nic& receiver) {
  const auto waiting = receiver.first_waiting;
  if (waiting == kNone) {
    ++receiver.places;
    return;
  }
  receiver.first_waiting = nics_[waiting].next_waiting;
  if (receiver.first_waiting == kNone) receiver.last_waiting = kNone;
  begin_transmission(waiting);
}

/// The receiver's port takes the bytes as they come, and one turn after another.
void Engine::on_sent(std::uint32_t at) {
  auto& nic = nics_[at];
  const auto connection = nic.in_port;
  auto& free = nics_[wiring_.connections[connection].receiver].receive_port_free;
  free = std::max(free + port_time_, now_ + way_time_);
  events_.add(free, EventKind::kArrival, connection);
  nic.counts.sent += writes_;
  nic.in_port = kNone;
  if (nic.behind_port != kNone) {
    const auto next = nic.behind_port;
    nic.behind_port = kNone;
    transmit(at, next);
  }
  kick(at);
}

void Engine::on_arrival(std::uint32_t connection) {
  const auto at = wiring_.connections[connection].receiver;
  auto& nic = nics_[at];
  const auto size = static_cast<std::uint32_t>(nic.arrived.size());
  nic.arrived[(nic.first_arrived + nic.arrived_count++) % size] = connection;
  kick(at);
}

void Engine::on_completion(std::uint32_t connection) {
  queues_[connection].outstanding -= writes_;
  const auto warp = wiring_.connections[connection].warp;
  if (visits_[warp].waits_for_room && visits_[warp].connection == connection) post(warp);
}

}  // namespace marrow::model
