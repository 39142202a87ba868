// SPDX-License-Identifier: Apache-2.0
// What an experiment is: a question, the variants and sweeps that answer it, and a function that measures one point.
// An experiment is written against two endpoints and does not know which NIC they are on.
//
//   Record record = blank_record(...);
//   experiment.run(context, point, record);   // fills metrics, counts, verified; may throw, what is filled stays
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/environment.h"
#include "measure/lane_clock.h"
#include "measure/record.h"

namespace marrow::gpu {
class ClockKeeper;
class Device;
}  // namespace marrow::gpu
namespace marrow::model {
struct Profile;
}

namespace marrow::experiments {

/// One way of doing it: a row of the paper's table. `axes` are settings that belong to the row.
struct Variant {
  std::string path;
  std::string policy;
  std::vector<measure::Axis> axes;
};

/// A whole-numbered setting that is swept over all variants; --axis replaces the values within [min, max].
struct Sweep {
  std::string name;
  std::string meaning;
  std::vector<std::int64_t> values;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t step = 1;  // values are multiples of it
};

/// What one record is about: a variant with a value for every sweep.
struct Point {
  std::string path;
  std::string policy;
  std::vector<measure::Axis> axes;

  /// \throws util::Error when the point has no such axis or it is of the other type.
  [[nodiscard]] std::int64_t number(std::string_view axis) const;
  [[nodiscard]] const std::string& text(std::string_view axis) const;
};

/// One thing that a lane did with one message. Stops are those of docs/one-message.md; the NIC's own (5 to 8) come from
/// whoever can watch the NIC.
struct TraceLine {
  int stop = 0;
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::string what;           // may have several lines
};

/// What an experiment is given by the one who runs it.
struct Context {
  std::string nic;                   // for the record: "cx7-sim" or a device's name
  std::vector<std::string> devices;  // two device names; the same one twice is loopback
  measure::Kind nic_kind = measure::Kind::kNic;
  std::uint32_t iterations = 0;
  std::uint32_t warmup = 0;
  const measure::LaneClock* clock = nullptr;
  std::shared_ptr<gpu::Device> gpu = {};                             // on gpu lanes: the lanes' GPU
  std::shared_ptr<gpu::Device> engine_gpu = {};                      // when the software NIC's engine is to be a GPU
  std::string engine = {};                                           // of the software NIC, as asked for
  const gpu::ClockKeeper* clock_keeper = nullptr;                    // where the user lets a row lock the SM clock
  std::shared_ptr<const model::Profile> profile = {};                // for what is computed; empty when none was named
  std::chrono::nanoseconds limit = std::chrono::seconds(60);         // for one row
  const std::atomic<bool>* stop = nullptr;                           // set on a time limit or an interrupt
  std::function<void(const measure::ActivePath&)> report_path = {};  // once the endpoints are set up
  std::function<void(bool on)> watch_nic = {};                       // around the one operation of a trace
  /// A counter of the software NIC by name, of both devices together, or of its engine thread. Empty on a real NIC.
  std::function<std::uint64_t(std::string_view counter)> nic_count = {};

  [[nodiscard]] bool stopping() const noexcept { return stop != nullptr && stop->load(std::memory_order_relaxed); }
};

/// Whether the software NIC refuses what hardware may let pass, as this process's environment says. Never a real NIC.
[[nodiscard]] bool has_strict_nic(const Context& context);

/// Threads that spin at the same time: the lanes, and the software NIC's where it is the NIC.
[[nodiscard]] unsigned spinning_threads(const Context& context, unsigned lanes);
/// True when they are more than the cores that this process may use; then a spin must give its core away.
[[nodiscard]] bool is_crowded(const Context& context, unsigned lanes);
[[nodiscard]] unsigned usable_cores();

struct Experiment {
  std::string name;
  std::string title;     // "Table 3: one 8 B operation"
  std::string question;  // one sentence; of the catalogue's experiments it stands in data/suite/paper.json
  std::string needs;     // what must be there to run it
  std::vector<Variant> variants;
  std::vector<Sweep> sweeps;
  std::uint32_t iterations = 2000;  // a default that leaves p99 its own samples and keeps a demo short
  bool lenient_nic = false;         // wants a software NIC that counts what it would else refuse
  bool locks_clocks = false;        // locks the SM clock, and does so only with --lock-clocks
  bool modelled = false;            // computed from Context::profile: it has no lane and no NIC, and moves no bytes
  /// Measures on host lanes.
  std::function<void(Context&, const Point&, measure::Record&)> run;
  /// The same question on lanes of a GPU, Context::gpu. Empty where the experiment has none, or this build no CUDA.
  std::function<void(Context&, const Point&, measure::Record&)> run_on_gpu = {};
  /// Does one operation of the point and tells it. Empty for experiments that have no single message to show.
  std::function<std::vector<TraceLine>(Context&, const Point&)> trace = {};
};

/// Measures on the lane of the context. \throws util::Error of kind kWaived when the experiment does not have it.
void run_on_lane(const Experiment& experiment, Context& context, const Point& point, measure::Record& record);

/// A record with everything that is known before the measurement.
[[nodiscard]] measure::Record blank_record(const Experiment& experiment, const Point& point, const Context& context);

}  // namespace marrow::experiments
