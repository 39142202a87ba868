// SPDX-License-Identifier: Apache-2.0
// The software NIC of this process: its devices, their objects, and the data path as one function, step().
// No thread, socket or clock in here: the caller passes the time and decides when to step, so that a test can.
// Control path and engine share one lock, taken once a step and never per message.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cx7/fabric/fabric.h"
#include "cx7/hca/counters.h"
#include "cx7/hca/gpu_engine.h"
#include "cx7/hca/objects.h"
#include "cx7/hca/qp.h"
#include "cx7/hca/table.h"
#include "cx7/hca/trace.h"

namespace marrow::cx7 {

inline constexpr std::uint8_t kDevices = 2;
inline constexpr std::uint8_t kNoDevice = 0xff;

/// Where packets go that are for queue pair `qpn` of `device`, which may be another host's number: for
/// Fabric::reserve().
[[nodiscard]] inline unsigned route_to(std::uint8_t device, std::uint32_t qpn) {
  return device < kDevices ? slot_of(qpn) : Fabric::kOtherHosts + device;
}

/// One HCA with one port. Numbers of its objects carry the process's slot.
struct Device {
  Device(std::uint8_t device_index, std::uint32_t slot, Counters& counts)
      : index(device_index), pds(slot), mkeys(slot), cqs(slot), srqs(slot), qps(slot), counters(counts) {}

  std::uint8_t index;
  Table<Pd> pds;
  Table<Mkey> mkeys;
  Table<Cq> cqs;
  Table<Srq> srqs;
  Table<Qp> qps;
  std::vector<std::unique_ptr<Uar>> uars;  // those the application has allocated
  std::vector<Cq*> channel_cqs;            // those that can fire completion events
  std::vector<Qp*> dcts;
  std::vector<Mkey*> windows;
  std::vector<EventSink*> port_watchers;  // told when the link goes down or comes up
  Counters& counters;                     // kept by the engine
};

/// Strict refuses what hardware might let pass (stale WQE index, reserved bits, a record that was never rung, ...) and
/// counts it; lenient only counts.
enum class Checking : std::uint8_t { kStrict, kLenient };

class HeldCqes;
class Neighbours;

/// Whether GPU threads may serve queue pairs, and which.
struct GpuChoice {
  /// Null while this process does not use CUDA; asked again at the next call that might need it.
  std::function<GpuEngine*()> load;
  bool every_queue = false;  // also those whose queues lie in host memory that a GPU can reach
};

class Engine {
 public:
  /// `counts`: where it counts, all zero at first; null: in memory of its own.
  Engine(const std::string& domain, Checking checking, const LinkOptions& links = {}, ProcessCounts* counts = nullptr);
  ~Engine();

  /// Held by every control-path call. The engine lets go between steps, at once when a call waits.
  class Lock {
   public:
    explicit Lock(Engine& engine);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Engine& engine_;
  };

  /// Bounded work: doorbells, arrived packets, QPs with something to send or to answer, timers.
  /// Takes the lock itself. Returns false when there was nothing to do.
  bool step(Time now);

  [[nodiscard]] Device& device(std::uint8_t index) { return *devices_[index]; }
  [[nodiscard]] Fabric& fabric() { return fabric_; }
  [[nodiscard]] Trace& trace() { return trace_; }
  [[nodiscard]] Checking checking() const { return checking_; }
  /// Before the first control call.
  void set_gpu_choice(GpuChoice choice) { gpu_choice_ = std::move(choice); }
  /// Null where no GPU can serve. Lock held.
  [[nodiscard]] GpuEngine* gpu();

  // Control path, lock held.
  Uar& add_uar(Device& device, std::uint32_t page, std::byte* registers);
  void remove_uar(Device& device, std::uint32_t page);  // no QP may name it any more
  [[nodiscard]] Uar* find_uar(Device& device, std::uint32_t page);
  /// See DataPath::resize_cq().
  [[nodiscard]] bool resize_cq(Device& device, Cq& cq, const CqMemory& to);
  Srq& add_srq(Device& device, const Srq& srq);  // takes the PD and the CQ
  void remove_srq(Device& device, Srq& srq);     // no QP may name it any more
  Qp& add_qp(Device& device, QpConfig config);   // state RST, on its UAR's list; takes the CQs and the PD
  void remove_qp(Device& device, Qp& qp);
  /// A DC target, active at once. It is a Qp that only its connections receive through; remove_qp() ends it.
  Qp& add_dct(Device& device, const QpConfig& config, const QpAttributes& attributes, std::uint64_t key);
  /// Ends its connections; whoever sends to it from now on hears nothing.
  void drain_dct(Qp& dct);
  /// Decides who serves a QP that was just added, and lets GPU threads adopt it where its queues are theirs. Empty, or
  /// one sentence why nobody can serve it.
  [[nodiscard]] std::string place_qp(Device& device, Qp& qp);
  /// Brings state and indices up to date where GPU threads move them.
  void refresh(Qp& qp);
  Mkey& add_mkey(Device& device, const Mkey& mkey);
  /// The device's counters, those of GPU threads among them.
  [[nodiscard]] Counters counters(std::uint8_t device);
  /// Of both devices.
  [[nodiscard]] DeviceCounts counts() { return {counters(0), counters(1)}; }
  /// Prepares a CQ whose fields are set: poisons the arm word, clears its counters.
  Cq& add_cq(Device& device, Cq cq);
  /// From now on nothing goes through `key`, not even a message that is half done.
  void remove_mkey(Device& device, std::uint32_t key);
  void remove_cq(Device& device, Cq& cq);  // no QP may use it any more

  enum class Modify : std::uint8_t { kOk, kBadState, kBadAttribute };
  /// Moves `qp` to `to`, with everything the transition takes already merged into `attributes`.
  /// Any state to kReset or kError; otherwise RST > INIT > RTR > RTS, INIT > INIT, RTS > RTS and SQE > RTS.
  Modify modify_qp(Device& device, Qp& qp, QpState to, const QpAttributes& attributes);

 private:
  friend class DataPath;
  static void forget_region(Device& device, std::uint32_t region);
  void deliver(const Packet& packet, Time now);
  bool serve_ready(Time now);
  void scan(Time now);
  bool write_due(Time now);
  void tell_of_link();
  Modify change_state(Device& device, Qp& qp, QpState to, const QpAttributes& attributes);

  std::unique_ptr<ProcessCounts> own_counts_;  // null: they lie elsewhere
  Fabric fabric_;
  Checking checking_;
  std::mutex mutex_;
  std::atomic<int> waiting_{0};
  std::array<std::unique_ptr<Device>, kDevices> devices_;
  std::vector<Qp*> ready_;
  std::vector<Qp*> serving_;
  Trace trace_;
  Time next_scan_{0};
  Time last_step_{0};  // what a control call, which has no clock, takes for now
  GpuChoice gpu_choice_;
  GpuEngine* gpu_ = nullptr;
  std::unique_ptr<Neighbours> neighbours_;
  std::unique_ptr<HeldCqes> held_cqes_;  // null where no fault holds any
  bool link_was_up_ = true;
};

}  // namespace marrow::cx7
