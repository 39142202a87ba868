// SPDX-License-Identifier: Apache-2.0
// One result: what was measured, where, how, with which outcome. A number never travels without its unit, its count of
// samples, its spread and its kind of time. JSON form: record_json.h; published schema:
// schema/marrow.result-2.schema.json.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "measure/gpu_state.h"
#include "measure/statistics.h"

namespace marrow::measure {

/// Where a time comes from. Kinds are never mixed in one column or chart.
enum class Kind : std::uint8_t {
  kGpu,       // a GPU's clock around GPU code
  kHostLane,  // a CPU thread running our own code: posting, ordering, ringing
  kCx7Sim,    // includes the software NIC's work: says nothing of a real NIC
  kNic,       // includes a real NIC
  kModel,     // computed from a NIC's profile in simulated time: nothing was timed
};
[[nodiscard]] std::string_view name_of(Kind kind);
[[nodiscard]] std::optional<Kind> kind_named(std::string_view name);
/// One sentence for people: what this kind of time contains and what it cannot say.
[[nodiscard]] std::string_view sentence_of(Kind kind);

enum class Status : std::uint8_t { kPassed, kFailed, kWaived };
[[nodiscard]] std::string_view name_of(Status status);

/// What the paper prints for the same thing. Its platform is part of the value.
struct PaperValue {
  double value = 0;
  std::optional<double> to;  // set where the paper prints a range from `value` to this
  std::string unit;
  std::string platform;
  std::string source;
};

struct Metric {
  std::string name;
  std::string unit;
  Kind kind = Kind::kHostLane;
  Summary summary;
  std::vector<PaperValue> paper;
};

struct Axis {
  std::string name;
  std::variant<std::int64_t, std::string> value;
};
[[nodiscard]] std::string text_of(const Axis& axis);

/// Mechanism counts over `operations` timed operations. They are exact and the same on every machine.
struct Count {
  std::string name;
  std::uint64_t total = 0;
};
struct Counts {
  std::uint64_t operations = 0;
  std::vector<Count> totals;
};

/// A statement about the result that the run itself checks; one that does not hold makes the record fail.
struct Expectation {
  std::string text;
  bool held = false;
};

struct Record {
  std::size_t environment = 0;          // of the document's environments, the one that it was measured in
  std::size_t runs = 1;                 // processes of its own that it was measured in
  std::optional<std::uint32_t> warmup;  // operations in each that were thrown away; older versions did not record it
  std::string experiment;
  std::vector<Axis> axes;
  std::string path;
  std::string policy;
  std::string lane;  // "host", "gpu"; "none" of a model
  std::string nic;   // "cx7-sim", a device's name, "model:" and its profile's name
  std::string clock;
  std::string engine;                 // of the software NIC, as asked for: auto, cpu, gpu, gpu:1; empty on a real NIC
  std::string gpu;                    // that the lanes ran on; empty on host lanes
  std::optional<GpuState> gpu_state;  // of that GPU while the row ran; older versions did not record it
  std::string doorbell;               // how the lanes reached the doorbell
  std::string registration;           // how memory was registered, and where it lay
  Status status = Status::kPassed;
  std::string reason;     // why it failed or was waived; empty when passed
  bool verified = false;  // the bytes of every operation were compared at the far side; a model has none
  std::vector<Metric> metrics;
  Counts counts;
  std::vector<Expectation> expectations;
  std::vector<std::string> warnings;
};

/// Turns the record into a failed one and keeps what was measured; the first reason stays.
void fail(Record& record, std::string reason);

/// "mini-gda, gpu-fence, bytes=8 payload=inline"
[[nodiscard]] std::string label_of(const Record& record);

/// Whether a model computed it, so that no byte was moved that could be compared.
[[nodiscard]] bool is_model(const Record& record);

/// Null when the record has no metric of that name.
[[nodiscard]] const Metric* metric_of(const Record& record, std::string_view name);

/// The row that a record is of, whoever measured it: experiment, path, policy and axes.
[[nodiscard]] std::string row_of(const Record& record);

/// Whether two records are of the same row; the order of axes does not matter.
[[nodiscard]] bool same_row(const Record& a, const Record& b);

/// One row's records of several processes as one: samples pooled, the worst status, every warning once.
/// \throws util::Error when samples are missing.
[[nodiscard]] Record pooled(std::span<const Record> runs);

}  // namespace marrow::measure
