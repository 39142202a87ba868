// SPDX-License-Identifier: Apache-2.0
// Reading the machine. Facts: /proc/cpuinfo, cpufreq in sysfs and uname(2) [abi]; Debian gives a library's full version
// in the name of its file, libibverbs.so.1.14.44.0 for rdma-core 44 [obs: Debian 12].
#include "measure/environment.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "measure/build_info.h"

namespace marrow::measure {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.empty() ? "not exposed" : line;
}

std::string cpuinfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "not exposed";
}

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

std::string kernel() {
  utsname name{};
  if (::uname(&name) != 0) return "unknown";
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

/// The file names of the RDMA libraries mapped into this process, with their links followed.
std::string rdma_libraries() {
  std::set<std::string> names;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto slash = line.find('/');
    if (slash == std::string::npos) continue;
    const auto name = std::filesystem::path(line.substr(slash)).filename().string();
    if (name.starts_with("libibverbs.so") || name.starts_with("libmlx5.so")) names.insert(name);
  }
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "not loaded" : text;
}

std::string utc_now() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// Where a part of the path is told: also in the header for people, or in the document alone.
enum class Shown : std::uint8_t { kEverywhere, kDocument };

struct PathField {
  const char* key;
  const char* title;
  std::string ActivePath::*member;
  Shown shown = Shown::kEverywhere;
  bool optional = true;  // left out where it is empty
};
constexpr std::array<PathField, 14> kPathFields{
    {{"nic", "nic", &ActivePath::nic, Shown::kEverywhere, false},
     {"link_layer", "link layer", &ActivePath::link_layer, Shown::kEverywhere, false},
     {"doorbell_mapping", "doorbell", &ActivePath::doorbell, Shown::kEverywhere, false},
     {"registration", "registration", &ActivePath::registration, Shown::kEverywhere, false},
     {"lane", "lane", &ActivePath::lane, Shown::kEverywhere, false},
     {"clock", "clock", &ActivePath::clock, Shown::kEverywhere, false},
     {"gpu", "gpu", &ActivePath::gpu},
     {"gpu_limits", "gpu limits", &ActivePath::gpu_limits},
     {"engine", "engine", &ActivePath::engine},
     {"place", "place", &ActivePath::place},
     {"nic_firmware", "nic firmware", &ActivePath::nic_firmware, Shown::kDocument},
     {"nic_pci", "nic on PCIe", &ActivePath::nic_pci, Shown::kDocument},
     {"gid", "gid", &ActivePath::gid, Shown::kDocument},
     {"gpu_uuid", "gpu uuid", &ActivePath::gpu_uuid, Shown::kDocument}}};

bool is_told(const PathField& field, const ActivePath& path) {
  return !field.optional || !(path.*field.member).empty();
}

/// A real NIC's firmware is worth a line; the software NIC's says nothing.
bool is_in_header(const PathField& field, const ActivePath& path) {
  const bool firmware = field.member == &ActivePath::nic_firmware && !path.nic_pci.empty();
  return is_told(field, path) && (field.shown == Shown::kEverywhere || firmware);
}

}  // namespace

Environment read_environment() {
  const auto build = build_info();
  Environment e{.cpu_model = cpuinfo("model name"), .cores = usable_cores(), .kernel = kernel()};
  e.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  const auto mhz = cpuinfo("cpu MHz");
  e.cpu_clock = mhz == "not exposed" ? mhz : mhz + " MHz";
  e.rdma_core = rdma_libraries();
  e.version = build.version;
  e.compiler = build.compiler;
  e.build_type = build.build_type;
  e.commit = build.commit;
  e.dirty = build.dirty;
  e.date = utc_now();
  return e;
}

Json to_json(const ActivePath& path) {
  Json json = Json::object();
  for (const auto& field : kPathFields) {
    if (is_told(field, path)) json[field.key] = path.*field.member;
  }
  if (path.unknown.empty()) return json;
  json["unknown"] = Json::object();
  for (const auto& unknown : path.unknown) json["unknown"][unknown.key] = unknown.reason;
  return json;
}

ActivePath path_from_json(const Json& json) {
  ActivePath path;
  for (const auto& field : kPathFields) path.*field.member = json.value(field.key, "");
  const auto unknown = json.value("unknown", Json::object());
  for (const auto& [key, reason] : unknown.items()) path.unknown.push_back({key, reason});
  return path;
}

Json to_json(const Environment& e) {
  Json json{{"cpu_model", e.cpu_model}, {"cores", e.cores},         {"kernel", e.kernel},
            {"governor", e.governor},   {"cpu_clock", e.cpu_clock}, {"rdma_core", e.rdma_core},
            {"marrow", e.version},      {"compiler", e.compiler},   {"build_type", e.build_type},
            {"commit", e.commit},       {"dirty", e.dirty},         {"date", e.date},
            {"path", nullptr}};
  if (e.path) json["path"] = to_json(*e.path);
  return json;
}

Environment environment_from_json(const Json& json) {
  Environment e{.cpu_model = json.at("cpu_model"), .cores = json.at("cores"), .kernel = json.at("kernel")};
  e.governor = json.at("governor");
  e.cpu_clock = json.at("cpu_clock");
  e.rdma_core = json.at("rdma_core");
  e.version = json.at("marrow");
  e.compiler = json.at("compiler");
  e.build_type = json.at("build_type");
  e.commit = json.at("commit");
  e.dirty = json.at("dirty");
  e.date = json.at("date");
  if (!json.at("path").is_null()) e.path = path_from_json(json["path"]);
  return e;
}

std::vector<Fact> facts_of(const Environment& e) {
  std::vector<Fact> facts;
  if (e.path) {
    for (const auto& field : kPathFields) {
      if (is_in_header(field, *e.path)) facts.push_back({field.title, *e.path.*field.member});
    }
  }
  facts.push_back({"machine", fmt::format("{}, {} core{}, {}; governor {}, clock {}", e.cpu_model, e.cores,
                                          e.cores == 1 ? "" : "s", e.kernel, e.governor, e.cpu_clock)});
  facts.push_back({"libraries", e.rdma_core});
  facts.push_back({"build", fmt::format("marrow {}, {}{}, {}, {}", e.version, e.commit.substr(0, 12),
                                        e.dirty ? " with changes" : "", e.compiler, e.build_type)});
  return facts;
}

}  // namespace marrow::measure
