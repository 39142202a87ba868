// SPDX-License-Identifier: Apache-2.0
// Where a result was measured: machine, software, build, and the path that was really active. No host name, no user.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/record_json.h"

namespace marrow::measure {

/// Why something is not known here, by its key in the document.
struct Unknown {
  std::string key;
  std::string reason;
};

/// The path this run used, in words, as the endpoints reported it after they were set up (not as it was asked for).
struct ActivePath {
  std::string nic;           // "mlx5_sim0 -> mlx5_sim1 (cx7-sim)"
  std::string link_layer;    // "InfiniBand, MTU 4096"
  std::string doorbell;      // how the doorbell's page is mapped
  std::string registration;  // how memory was registered
  std::string lane;          // "host: 2 threads on 2 cores"
  std::string clock;
  // What is empty is neither printed nor written; `unknown` then may say why.
  std::string gpu = {};  // of gpu lanes
  std::string gpu_uuid = {};
  std::string gpu_limits = {};  // "SM clock up to 1980 MHz, power cap 700 W"
  std::string engine = {};      // of the software NIC, where one was asked for
  std::string nic_firmware = {};
  std::string nic_pci = {};  // its place on PCIe
  std::string gid = {};      // "index 3, fe80:0000:..."
  std::string place = {};    // NUMA nodes of GPU and NIC, and what lies between them
  std::vector<Unknown> unknown = {};
};

struct Environment {
  std::string cpu_model;
  unsigned cores = 0;     // that this process may run on
  std::string kernel;     // "Linux 6.1.0 x86_64"
  std::string governor;   // of CPU 0, or why it is not known
  std::string cpu_clock;  // MHz now, as the kernel tells it, or why it is not known
  std::string rdma_core;  // library versions, as loaded or as built against
  std::string version;
  std::string compiler;
  std::string build_type;
  std::string commit;
  bool dirty = false;
  std::string date;  // UTC, ISO 8601
  std::optional<ActivePath> path;
};

/// Reads what this machine tells. What cannot be read is said in words ("not exposed"), never guessed.
[[nodiscard]] Environment read_environment();

[[nodiscard]] Json to_json(const ActivePath& path);
[[nodiscard]] ActivePath path_from_json(const Json& json);
[[nodiscard]] Json to_json(const Environment& environment);
/// \throws nlohmann::json::exception when a key is missing or of the wrong type.
[[nodiscard]] Environment environment_from_json(const Json& json);

/// The (name, value) pairs of the header for people.
struct Fact {
  std::string name;
  std::string value;
};
[[nodiscard]] std::vector<Fact> facts_of(const Environment& environment);

}  // namespace marrow::measure
