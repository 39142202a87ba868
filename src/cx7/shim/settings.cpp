// SPDX-License-Identifier: Apache-2.0
// See settings.h.
#include "cx7/shim/settings.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "cx7/fabric/fault_plan.h"
#include "cx7/fabric/udp_ports.h"
#include "cx7/fw/port.h"
#include "cx7/shim/libc.h"
#include "cx7/shim/tree.h"
#include "util/env.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

using util::Error;
using util::ErrorKind;

constexpr std::string_view kPrefix = "MARROW_SIM_";
constexpr std::array<std::string_view, 11> kKnown{"LINK",  "STRICT", "DOMAIN",   "SPIN", "PCAP", "FAULTS",
                                                  "STATS", "ENGINE", "SHIFT_MS", "UDP",  "BOARD"};
constexpr std::array<std::string_view, 3> kSpinWords{"auto", "never", "always"};  // order of SpinRule
constexpr std::size_t kMaxDomain = 32;
constexpr util::IntegerRule kShiftMs{.fallback = 2, .min = 1, .max = 10'000};

void refuse_unknown_variables() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view name(*entry);
    name = name.substr(0, name.find('='));
    if (!name.starts_with(kPrefix)) continue;
    if (std::ranges::find(kKnown, name.substr(kPrefix.size())) != kKnown.end()) continue;
    throw Error(fmt::format("environment variable {} is not one that the software NIC knows", name), ErrorKind::kUsage,
                fmt::format("one of {0}{1}", kPrefix, fmt::join(kKnown, fmt::format(", {}", kPrefix))));
  }
}

std::string read_domain() {
  const std::string domain(util::env_text("MARROW_SIM_DOMAIN").value_or("default"));
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  if (domain.size() > kMaxDomain || !std::ranges::all_of(domain, is_plain)) {
    throw Error(fmt::format("MARROW_SIM_DOMAIN is '{}': at most {} letters, digits, '_' or '.'", domain, kMaxDomain),
                ErrorKind::kUsage);
  }
  return domain;
}

/// "auto", "cpu", "gpu" or "gpu:N".
void read_engine(Settings& settings) {
  const std::string_view text = util::env_text("MARROW_SIM_ENGINE").value_or("auto");
  if (text == "auto") return;
  settings.engine = text == "cpu" ? EngineRule::kCpu : EngineRule::kGpu;
  if (text == "cpu" || text == "gpu") return;
  const std::string_view digits = text.starts_with("gpu:") ? text.substr(4) : std::string_view();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), settings.gpu);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || settings.gpu < 0) {
    throw Error(fmt::format("MARROW_SIM_ENGINE is '{}'", text), ErrorKind::kUsage, "auto, cpu, gpu or gpu:N");
  }
}

/// The trees lie beside the library, in the build folder and where it is installed.
std::string find_tree() {
  const auto ethernet = udp_ports().empty() ? kTreeOfEthernet : kTreeOfNetwork;
  const auto link = link_layer() == LinkLayer::kEthernet ? ethernet : kTreeOfInfiniBand;
  const std::string library = library_directory();
  for (const std::string_view trees : {MARROW_CX7_TREES_BUILT, MARROW_CX7_TREES_INSTALLED}) {
    std::array<char, PATH_MAX> resolved{};
    const std::string place = fmt::format("{}/{}/{}", library, trees, link);
    if (libc::realpath(place.c_str(), resolved.data()) != nullptr) return resolved.data();
  }
  throw Error(fmt::format("the device tree of the software NIC is missing: no {}/{}", library, MARROW_CX7_TREES_BUILT),
              ErrorKind::kFailed,
              "build the target marrow_cx7_tree, or install the library together with its share/ folder");
}

LinkOptions read_links() {
  LinkOptions links;
  for (const UdpPort& port : udp_ports()) links.addresses.push_back(port.address);
  links.capture.file = util::env_text("MARROW_SIM_PCAP").value_or("");
  links.capture.infiniband = link_layer() == LinkLayer::kInfiniBand;
  for (std::uint8_t device = 0; device < kDevices; ++device) {
    links.capture.lids.at(device) = device_facts(device).lid;
    links.capture.addresses.at(device) = device_address(device);
  }
  if (const auto faults = util::env_text("MARROW_SIM_FAULTS")) links.faults = read_faults(*faults);
  return links;
}

Settings read() {
  refuse_unknown_variables();
  Settings settings{
      .domain = read_domain(),
      .checking = util::env_switch("MARROW_SIM_STRICT", true) ? Checking::kStrict : Checking::kLenient,
      .spin = static_cast<SpinRule>(util::env_choice("MARROW_SIM_SPIN", kSpinWords, 0)),
      .shift_ms = static_cast<std::uint32_t>(util::env_integer("MARROW_SIM_SHIFT_MS", kShiftMs)),
      .stats_at_exit = util::env_switch("MARROW_SIM_STATS", false),
      .board = std::string(util::env_text("MARROW_SIM_BOARD").value_or("")),
      .tree = find_tree(),
  };
  read_engine(settings);
  settings.links = read_links();
  return settings;
}

}  // namespace

std::string library_directory() {
  Dl_info info{};
  std::array<char, PATH_MAX> resolved{};
  if (::dladdr(reinterpret_cast<const void*>(&settings), &info) == 0 || info.dli_fname == nullptr ||
      libc::realpath(info.dli_fname, resolved.data()) == nullptr) {
    throw Error("the software NIC cannot find its own shared object");
  }
  const std::string_view path(resolved.data());
  return std::string(path.substr(0, path.rfind('/')));
}

const Settings& settings() {
  static const Settings* const kept = new Settings(read());  // never destroyed: hooks run until the last instruction
  return *kept;
}

}  // namespace marrow::cx7
