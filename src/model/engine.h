// SPDX-License-Identifier: Apache-2.0
// Messages of many endpoints in simulated time: a discrete-event model, exact to the picosecond and the same for a
// seed.
//
// A message's way: its warp rings a doorbell (an endpoint's doorbells go one after another) -> the NIC serves queue
// pairs that have one in turn -> the unit that both directions share does its work and fetches what the connection
// cache lacks
// -> the port sends -> the receiver's port and, once it has a place in the receive buffer, its unit -> the completion
// frees the send queue. What is not here (retransmission, PCIe, congestion in switches) the model cannot speak of.
//
//   Engine engine(profile, traffic);
//   engine.run(turns);                  // until the receivers took this many more turns
//   engine.now_ns(), engine.counts(endpoint)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/context_cache.h"
#include "model/event_queue.h"
#include "model/profile.h"
#include "model/traffic.h"

namespace marrow::model {

/// What one endpoint's NIC did since the beginning, in messages and missed cache entries.
struct Counts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t send_misses = 0;
  std::uint64_t receive_misses = 0;
};

/// One thread. Allocates when it is made; events later only where more are under way than ever before.
class Engine {
 public:
  /// \throws util::Error of kind kUsage for traffic that makes no sense.
  Engine(const Profile& profile, const Traffic& traffic);

  void run(std::uint64_t turns);

  [[nodiscard]] double now_ns() const noexcept { return static_cast<double>(now_) * 1e-3; }
  [[nodiscard]] const Counts& counts(std::uint32_t endpoint) const { return nics_.at(endpoint).counts; }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  enum class Role : std::uint8_t { kSend, kReceive };

  /// A send queue's state beside its wiring.
  struct SendQueue {
    std::uint32_t rung = 0;         // doorbells not yet served
    std::uint32_t outstanding = 0;  // writes that occupy the queue
    std::uint32_t next = kNone;     // in its NIC's turn
  };
  struct Visit {
    std::uint32_t connection = 0;
    std::uint32_t at = 0;       // of the warp's connections
    std::uint32_t written = 0;  // of this visit
    bool waits_for_room = false;
  };
  struct Nic {
    Nic(const Profile& profile, std::uint32_t turns, std::uint64_t seed)
        : cache(profile, seed), arrived(turns), places(turns) {}
    ContextCache cache;
    Picoseconds doorbell_free = 0;
    Picoseconds receive_port_free = 0;
    std::uint32_t first_in_turn = kNone;  // send queues with a doorbell
    std::uint32_t last_in_turn = kNone;
    bool unit_is_busy = false;
    Role unit_role = Role::kReceive;  // of its job, or of its last one
    std::uint32_t unit_connection = kNone;
    std::uint32_t in_port = kNone;  // the turn that is sent, or waits for a place at its receiver
    std::uint32_t behind_port = kNone;
    std::vector<std::uint32_t> arrived;  // a ring: turns that wait for the unit
    std::uint32_t first_arrived = 0;
    std::uint32_t arrived_count = 0;
    std::uint32_t places;                 // free in the receive buffer
    std::uint32_t first_waiting = kNone;  // NICs that wait for one
    std::uint32_t last_waiting = kNone;
    std::uint32_t next_waiting = kNone;  // behind this NIC, where it waits
    Counts counts;
  };

  void step();
  void post(std::uint32_t warp);
  void on_doorbell(std::uint32_t warp);
  void on_unit_done(std::uint32_t nic);
  void on_sent(std::uint32_t nic);
  void on_arrival(std::uint32_t connection);
  void on_completion(std::uint32_t connection);
  void kick(std::uint32_t nic);
  void start_send(std::uint32_t nic);
  void start_receive(std::uint32_t nic);
  void occupy_unit(std::uint32_t nic, Role role, std::uint32_t connection);
  std::uint32_t misses(Nic& nic, Role role, std::uint32_t context);
  void transmit(std::uint32_t nic, std::uint32_t connection);
  void begin_transmission(std::uint32_t nic);
  void give_place(Nic& receiver);
  void next_connection(std::uint32_t warp);

  Profile profile_;
  Order order_;
  std::uint32_t depth_;
  std::uint32_t writes_per_visit_;
  std::uint32_t writes_;  // of a turn and of a doorbell
  Picoseconds doorbell_time_;
  Picoseconds way_time_;   // of the doorbell-to-CQE time, each way
  Picoseconds unit_time_;  // of one turn without a miss
  Picoseconds port_time_;
  Picoseconds send_miss_time_;
  Picoseconds receive_miss_time_;

  Wiring wiring_;
  std::vector<SendQueue> queues_;  // by connection
  std::vector<Visit> visits_;      // by warp
  std::vector<Nic> nics_;
  Random random_;
  EventQueue events_;
  Picoseconds now_ = 0;
  std::uint64_t turns_received_ = 0;
};

/// Rates of one run, from when the caches and queues are in their steady state.
struct Rates {
  std::vector<double> sent_m_per_s;      // by sender
  std::vector<double> received_m_per_s;  // by receiver
  double send_misses = 0;                // entries a message, all NICs
  double receive_misses = 0;
  std::uint64_t messages = 0;  // simulated, the steady part
  double simulated_us = 0;     // that it took
};
/// \throws util::Error of kind kUsage for traffic that makes no sense.
[[nodiscard]] Rates steady_rates(const Profile& profile, const Traffic& traffic);

}  // namespace marrow::model
