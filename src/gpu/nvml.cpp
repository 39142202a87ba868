// SPDX-License-Identifier: Apache-2.0
// See nvml.h. Facts: success is 0, "not supported" 3, "no permission" 4; a look-up by PCI bus takes the form that CUDA
// gives; nvmlDeviceGetCurrentClocksThrottleReasons has a newer name in newer drivers, which keep the old one [prm:
// NVML].
#include "gpu/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "util/env.h"
#include "util/error.h"

namespace marrow::gpu {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";
constexpr const char* kOverride = "MARROW_NVML";  // another library in its place, for tests
constexpr int kNoPermission = 4;
constexpr unsigned kSmClock = 1;
constexpr unsigned kMemoryClock = 2;

using Handle = void*;

class Library {
 public:
  Library() {
    const auto name = std::string(util::env_text(kOverride).value_or(kLibrary));
    handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) refuse(fmt::format("{} cannot be loaded: {}", name, ::dlerror()));
    const auto started = call<int (*)()>("nvmlInit_v2");
    if (started != 0) refuse(fmt::format("{} cannot be used: {}", name, text_of(started)));
  }

  template <class Function, class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    constexpr int kFunctionNotFound = 13;
    const auto function = reinterpret_cast<Function>(::dlsym(handle_, name));
    return function == nullptr ? kFunctionNotFound : function(arguments...);
  }

  [[nodiscard]] std::string text_of(int result) const {
    const auto words = reinterpret_cast<const char* (*)(int)>(::dlsym(handle_, "nvmlErrorString"));
    return words == nullptr ? fmt::format("NVML error {}", result)
                            : fmt::format("{} (NVML error {})", words(result), result);
  }

 private:
  [[noreturn]] static void refuse(const std::string& sentence) {
    throw util::Error(sentence, util::ErrorKind::kWaived, "a driver with its management library");
  }

  void* handle_ = nullptr;  // never closed: it lives as long as the process
};

/// Loaded once; a refusal is tried again by the next who asks.
const Library& library() {
  static const Library loaded;
  return loaded;
}

template <class Value>
std::optional<Value> told(const char* name, Handle device) {
  Value value{};
  const auto result = library().call<int (*)(Handle, Value*)>(name, device, &value);
  return result == 0 ? std::optional(value) : std::nullopt;
}

std::optional<unsigned> told_of(const char* name, Handle device, unsigned which) {
  unsigned value = 0;
  const auto result = library().call<int (*)(Handle, unsigned, unsigned*)>(name, device, which, &value);
  return result == 0 ? std::optional(value) : std::nullopt;
}

std::string text_told(const char* name, Handle device) {
  std::array<char, 96> text{};
  const auto size = static_cast<unsigned>(text.size());
  const auto result = library().call<int (*)(Handle, char*, unsigned)>(name, device, text.data(), size);
  return result == 0 ? text.data() : "";
}

std::optional<double> watts(std::optional<unsigned> milliwatts) {
  constexpr double kPerWatt = 1e3;
  return milliwatts ? std::optional(*milliwatts / kPerWatt) : std::nullopt;
}

struct Reason {
  std::uint64_t bit;
  std::string_view name;
};
constexpr std::array<Reason, 6> kSlowing{{{0x04, "software power cap"},
                                          {0x08, "hardware slowdown"},
                                          {0x10, "sync boost"},
                                          {0x20, "software thermal slowdown"},
                                          {0x40, "hardware thermal slowdown"},
                                          {0x80, "hardware power brake"}}};

void require(int result, const std::string& what) {
  if (result == 0) return;
  const bool rights = result == kNoPermission;
  throw util::Error(fmt::format("{}: {}", what, library().text_of(result)),
                    rights ? util::ErrorKind::kWaived : util::ErrorKind::kFailed,
                    rights ? "the same as root, or ask who runs this machine" : "");
}

}  // namespace

std::vector<std::string_view> slowing(std::uint64_t reasons) {
  std::vector<std::string_view> names;
  for (const auto& reason : kSlowing) {
    if ((reasons & reason.bit) != 0) names.push_back(reason.name);
  }
  return names;
}

Nvml::Nvml(const std::string& bus_id) : bus_id_(bus_id) {
  const auto result =
      library().call<int (*)(const char*, Handle*)>("nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str(), &device_);
  if (result == 0) return;
  throw util::Error(fmt::format("NVML does not know the GPU at {}: {}", bus_id, library().text_of(result)),
                    util::ErrorKind::kWaived);
}

NvmlFacts Nvml::facts() const {
  NvmlFacts facts{.name = text_told("nvmlDeviceGetName", device_), .uuid = text_told("nvmlDeviceGetUUID", device_)};
  std::array<char, 96> driver{};
  const auto size = static_cast<unsigned>(driver.size());
  if (library().call<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion", driver.data(), size) == 0)
    facts.driver = driver.data();
  facts.most_sm_mhz = told_of("nvmlDeviceGetMaxClockInfo", device_, kSmClock);
  facts.power_limit_w = watts(told<unsigned>("nvmlDeviceGetEnforcedPowerLimit", device_));
  return facts;
}

NvmlLook Nvml::look() const {
  constexpr unsigned kOfTheGpu = 0;
  return {.sm_mhz = told_of("nvmlDeviceGetClockInfo", device_, kSmClock),
          .memory_mhz = told_of("nvmlDeviceGetClockInfo", device_, kMemoryClock),
          .power_w = watts(told<unsigned>("nvmlDeviceGetPowerUsage", device_)),
          .temperature_c = told_of("nvmlDeviceGetTemperature", device_, kOfTheGpu),
          .reasons = told<std::uint64_t>("nvmlDeviceGetCurrentClocksThrottleReasons", device_)};
}

std::vector<unsigned> Nvml::sm_clocks() const {
  const auto memory = told_of("nvmlDeviceGetClockInfo", device_, kMemoryClock);
  if (!memory) throw util::Error(fmt::format("NVML does not tell the memory clock of the GPU at {}", bus_id_));
  unsigned count = 1024;
  std::vector<unsigned> clocks(count);
  const auto result = library().call<int (*)(Handle, unsigned, unsigned*, unsigned*)>(
      "nvmlDeviceGetSupportedGraphicsClocks", device_, *memory, &count, clocks.data());
  require(result, fmt::format("ask which clocks the GPU at {} has", bus_id_));
  clocks.resize(count);
  std::sort(clocks.begin(), clocks.end(), std::greater<>());
  return clocks;
}

void Nvml::lock_sm_clock(unsigned mhz) const {
  require(library().call<int (*)(Handle, unsigned, unsigned)>("nvmlDeviceSetGpuLockedClocks", device_, mhz, mhz),
          fmt::format("lock the SM clock of the GPU at {} to {} MHz", bus_id_, mhz));
}

void Nvml::reset_sm_clock() const {
  require(library().call<int (*)(Handle)>("nvmlDeviceResetGpuLockedClocks", device_),
          fmt::format("give the SM clock of the GPU at {} back", bus_id_));
}

}  // namespace marrow::gpu
