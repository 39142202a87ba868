// SPDX-License-Identifier: Apache-2.0
// A stand-in for libnvidia-ml.so.1 with one imaginary GPU, for MARROW_NVML; no real one can be at its place on PCIe.
// Variables choose what it tells:
//   FAKE_NVML_LOG      a file that gets a line for each lock ("lock 1500") and each reset ("reset")
//   FAKE_NVML_RIGHTS   "no": locking is refused for want of rights
//   FAKE_NVML_CLOCKS   SM clocks that are told one after the other, the last for ever: "1980,1200"
//   FAKE_NVML_REASONS  the mask of why the clock is what it is
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kSuccess = 0, kNotSupported = 3, kNoPermission = 4, kNotFound = 6;
int gpu = 0;

std::string variable(const char* name) {
  const auto* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int log_line(const std::string& line) {
  if (variable("FAKE_NVML_RIGHTS") == "no") return kNoPermission;
  auto* file = std::fopen(variable("FAKE_NVML_LOG").c_str(), "a");
  if (file == nullptr) return kSuccess;
  std::fputs((line + "\n").c_str(), file);
  std::fclose(file);
  return kSuccess;
}

int give(char* to, unsigned size, const char* text) {
  std::snprintf(to, size, "%s", text);
  return kSuccess;
}

unsigned next_sm_clock() {
  static std::istringstream clocks(variable("FAKE_NVML_CLOCKS"));
  static unsigned last = 1980;
  std::string word;
  if (std::getline(clocks, word, ',')) last = static_cast<unsigned>(std::stoul(word));
  return last;
}

}  // namespace

FAKE int nvmlInit_v2() {
  return kSuccess;
}
FAKE const char* nvmlErrorString(int result) {
  return result == kNoPermission ? "Insufficient Permissions" : result == kNotFound ? "Not Found" : "Not Supported";
}
FAKE int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  *device = &gpu;
  return std::strcmp(bus_id, "ffff:19:00.0") == 0 ? kSuccess : kNotFound;
}
FAKE int nvmlDeviceGetName(void*, char* name, unsigned size) {
  return give(name, size, "Imaginary GPU");
}
FAKE int nvmlDeviceGetUUID(void*, char* uuid, unsigned size) {
  return give(uuid, size, "GPU-00000000-1111-2222-3333-444444444444");
}
FAKE int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  return give(version, size, "580.95.05");
}
FAKE int nvmlDeviceGetMaxClockInfo(void*, unsigned clock, unsigned* mhz) {
  *mhz = 1980;
  return clock == 1 ? kSuccess : kNotSupported;
}
FAKE int nvmlDeviceGetClockInfo(void*, unsigned clock, unsigned* mhz) {
  *mhz = clock == 1 ? next_sm_clock() : 3201;
  return clock == 1 || clock == 2 ? kSuccess : kNotSupported;
}
FAKE int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return kSuccess;
}
FAKE int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 120'500;
  return kSuccess;
}
// There is no nvmlDeviceGetTemperature: a driver need not have every function.
FAKE int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  const auto text = variable("FAKE_NVML_REASONS");
  *reasons = text.empty() ? 0 : std::stoull(text, nullptr, 0);
  return kSuccess;
}
FAKE int nvmlDeviceGetSupportedGraphicsClocks(void*, unsigned memory_mhz, unsigned* count, unsigned* mhz) {
  unsigned n = 0;
  for (unsigned clock = 345; clock <= 1980; clock += 15) mhz[n++] = clock;
  *count = n;
  return memory_mhz == 3201 ? kSuccess : kNotSupported;
}
FAKE int nvmlDeviceSetGpuLockedClocks(void*, unsigned least, unsigned) {
  return log_line("lock " + std::to_string(least));
}
FAKE int nvmlDeviceResetGpuLockedClocks(void*) {
  return log_line("reset");
}
