// SPDX-License-Identifier: Apache-2.0
// See device.h. Facts: /proc/driver/nvidia/version names the kernel module's version [obs: driver 580].
#include "gpu/device.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "gpu/clocks.h"
#include "gpu/cuda_call.cuh"
#include "util/error.h"
#include "util/log.h"

namespace marrow::gpu {
namespace {

constexpr int kLeastMajor = 9;

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, index), "ask a GPU what it can do");
  return value;
}

int count_gpus() {
  int count = 0;
  const auto result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) return count;
  (void)cudaGetLastError();
  const bool driver_is_there = std::filesystem::exists("/proc/driver/nvidia");
  const char* why = result == cudaSuccess ? "CUDA shows none" : cudaGetErrorString(result);
  if (!driver_is_there) why = "no NVIDIA driver is loaded";
  throw util::Error(fmt::format("no GPU can be used here: {}", why), util::ErrorKind::kWaived, kOnHostInstead);
}

/// The first word with two dots or more, as in "580.65.06".
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const bool numeric = word.find_first_not_of("0123456789.") == std::string::npos;
    if (numeric && word.find('.') != std::string::npos) return word;
  }
  return "not exposed";
}

std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

Facts read_facts(int index) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), fmt::format("read the properties of GPU {}", index));
  Facts facts{.index = index,
              .name = properties.name,
              .major = properties.major,
              .minor = properties.minor,
              .multiprocessors = properties.multiProcessorCount,
              .driver = driver_version()};
  std::array<char, 32> pci{};
  check(cudaDeviceGetPCIBusId(pci.data(), static_cast<int>(pci.size()), index), "ask where on PCIe a GPU is");
  facts.pci = pci.data();
  check(cudaDriverGetVersion(&facts.driver_cuda), "ask for the driver's CUDA version");
  check(cudaRuntimeGetVersion(&facts.runtime_cuda), "ask for the runtime's version");
  return facts;
}

void require_what_lanes_need(const Facts& facts) {
  if (facts.major < kLeastMajor) {
    throw util::Error(fmt::format("GPU {}, {}, is sm_{}{}: too old, gpu lanes need sm_90 (Hopper) or newer",
                                  facts.index, facts.name, facts.major, facts.minor),
                      util::ErrorKind::kWaived, kOnHostInstead);
  }
  if (attribute(cudaDevAttrUnifiedAddressing, facts.index) == 0 ||
      attribute(cudaDevAttrCanMapHostMemory, facts.index) == 0) {
    throw util::Error(fmt::format("GPU {}, {}, cannot share addresses with the host", facts.index, facts.name),
                      util::ErrorKind::kWaived, kOnHostInstead);
  }
}

}  // namespace

Device::Device(Facts facts) : facts_(std::move(facts)) {
  use();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a CUDA stream");
  setup_stream_ = stream;
}

Device::~Device() {
  if (!broken_) (void)cudaStreamDestroy(stream_of(*this));
}

void Device::use() const {
  if (broken_) {
    throw util::Error(
        fmt::format("GPU {} is not usable in this process after a kernel that crashed or did not end", facts_.index));
  }
  check(cudaSetDevice(facts_.index), fmt::format("use GPU {}", facts_.index));
}

std::string Device::describe() const {
  return fmt::format("GPU {}, {}, sm_{}{}, {} SMs at {:.0f} MHz, driver {}, CUDA {} (driver knows {})", facts_.index,
                     facts_.name, facts_.major, facts_.minor, facts_.multiprocessors, facts_.clocks.sm_mhz,
                     facts_.driver, cuda_version(facts_.runtime_cuda), cuda_version(facts_.driver_cuda));
}

std::string Device::describe_clocks() const {
  return fmt::format("clock64 of GPU {} at {:.0f} MHz, timed by globaltimer, whose step is {:.0f} ns", facts_.index,
                     facts_.clocks.sm_mhz, facts_.clocks.globaltimer_step_ns);
}

std::shared_ptr<Device> open(int index) {
  const int count = count_gpus();
  if (index < 0 || index >= count) {
    throw util::Error(fmt::format("no GPU {} here: there {} {}", index, count == 1 ? "is" : "are",
                                  count == 1 ? "only GPU 0" : fmt::format("GPUs 0 to {}", count - 1)),
                      util::ErrorKind::kUsage, "--lane gpu:0");
  }
  auto facts = read_facts(index);
  require_what_lanes_need(facts);
  {
    Device unmeasured(facts);
    facts.clocks = measure_clocks(unmeasured);
  }
  return std::make_shared<Device>(std::move(facts));
}

}  // namespace marrow::gpu
