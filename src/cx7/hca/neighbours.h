// SPDX-License-Identifier: Apache-2.0
// What GPU threads need of other processes' tables, told from control plane to control plane. A process whose queue
// pair is served by GPU threads and leads to another process asks that one, once; from then on it is told of every key
// that gives remote rights and of every queue pair that leads back. Nothing of this is on a message's path.
//
// A call that takes something away, or that gives out a new key, returns when every process that was told has said that
// its GPU threads act by it, or after a time, when that process is cut off. Who waits goes on answering, so that two
// processes that wait for each other both get their answer. All with the engine's lock held.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "cx7/fabric/control_links.h"
#include "cx7/hca/gpu_engine.h"

namespace marrow::cx7 {

class Engine;
struct Notice;

class Neighbours final : ControlLinks::Listener {
 public:
  /// Throws util::Error.
  Neighbours(Engine& engine, const std::string& domain);

  /// All after the engine's own tables have changed.
  void key_added(std::uint8_t device, const Mkey& key);
  void key_gone(std::uint8_t device, const Mkey& key);
  /// May ask the process at the other end for its tables, and then waits for them.
  void qp_changed(const Qp& qp);

  /// Hears and answers what other processes have said. Never waits. The engine thread's.
  void attend();
  /// Readable when attend() has something to do.
  [[nodiscard]] int fd() const { return links_.fd(); }

 private:
  using Link = ControlLinks::Link;
  /// A process that asked.
  struct Subscriber {
    bool asked = false;  // until then it is only a connection
    unsigned slot = 0;
    std::uint64_t said = 0;  // synchronisations
    std::uint64_t seen = 0;
    std::unordered_map<std::uint64_t, FarQp> told;  // those that receive from it
  };
  /// A process that was asked.
  struct Owner {
    unsigned slot = 0;
    std::uint64_t heard = 0;  // synchronisations
    FarNews news;             // since the last of them
  };

  void on_message(Link link, std::span<const std::byte> message) override;
  void on_end(Link link) override;

  // As the owner of keys and queue pairs.
  bool on_subscriber(Link link, const Notice& notice);
  void tell_everything(Link link);
  void tell_key(Link link, std::uint8_t device, const Mkey& key);
  bool tell_qp(Link link, const FarQp& qp);
  void synchronise(Link link);
  void await_subscribers();
  [[nodiscard]] const SharedRange& place_of(std::uint8_t device, const Mkey& key) const;

  // As the one who asked.
  bool on_owner(Link link, const Notice& notice);
  void meet(const Qp& qp);
  void hear(Link link, std::uint64_t sequence);

  void send(Link link, const Notice& notice);
  bool wait_until(const std::function<bool()>& done);

  Engine& engine_;
  ControlLinks links_;
  std::unordered_map<Link, Subscriber> subscribers_;
  std::unordered_map<Link, Owner> owners_;
  std::unordered_map<std::uint64_t, SharedRange> shared_;  // own keys in GPU memory
};

/// What the other processes of the domain have counted, as far as they answer in time: `own` is the slot of this one,
/// 256 where it has none. Needs no lock.
[[nodiscard]] DeviceCounts counts_elsewhere(const std::string& domain, unsigned own);

}  // namespace marrow::cx7
