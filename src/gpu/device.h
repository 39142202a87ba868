// SPDX-License-Identifier: Apache-2.0
// The GPU on which lanes run: chosen, described, refused. Before stop 1 of 9. Plain C++, so that code without CUDA can
// hold one; a build without CUDA has only an open() that refuses.
// Facts: what a lane needs of a GPU: sm_90, for the kernels are built for it and newer ones [prm: PTX ISA].
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace marrow::gpu {

/// Two clocks of the GPU as they were measured when it was opened.
struct Clocks {
  double sm_mhz = 0;               // cycles of clock64 per microsecond of globaltimer
  double globaltimer_step_ns = 0;  // the least difference between two readings that differ
};

struct Facts {
  int index = 0;  // among the GPUs that CUDA shows to this process
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  int multiprocessors = 0;
  int driver_cuda = 0;   // 13000 is CUDA 13.0: the newest that the driver knows
  int runtime_cuda = 0;  // what this program was linked with
  std::string driver;    // of the kernel module, or "not exposed"
  std::string pci;       // "0000:19:00.0"
  Clocks clocks;
};

/// One GPU in this process. Not for use by two threads at once.
///
/// After a kernel that crashed or did not end, the GPU is `broken` for this process: calls on it throw, memory is left
/// to the end of the process, and another process is the way to go on.
class Device {
 public:
  explicit Device(Facts facts);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] int index() const { return facts_.index; }
  /// "GPU 0, NVIDIA H200, sm_90, 132 SMs at 1980 MHz, driver 580.65.06, CUDA 13.0"
  [[nodiscard]] std::string describe() const;
  /// "SM clock at 1980 MHz (clock64), globaltimer in steps of 32 ns"
  [[nodiscard]] std::string describe_clocks() const;

  [[nodiscard]] bool broken() const { return broken_; }
  void break_down() { broken_ = true; }
  /// Makes it the calling thread's GPU. \throws util::Error when it is broken.
  void use() const;
  /// The CUDA stream of set-up: fills and copies.
  [[nodiscard]] void* setup_stream() const { return setup_stream_; }

 private:
  Facts facts_;
  void* setup_stream_ = nullptr;
  bool broken_ = false;
};

/// The GPU of that index, with its clocks measured; some 20 ms.
/// \throws util::Error: kWaived where this build has no CUDA, there is no GPU or it is too old; kUsage when there are
/// GPUs but none of that index.
[[nodiscard]] std::shared_ptr<Device> open(int index);

/// Whether this build has GPU lanes at all, and the sentence for where it has not.
#ifdef MARROW_HAS_CUDA
inline constexpr bool kBuilt = true;
#else
inline constexpr bool kBuilt = false;
#endif
inline constexpr const char* kNotBuilt =
    "this build has no gpu lane and no GPU engine: it was made without CUDA (nvcc 13)";
inline constexpr const char* kOnHostInstead =
    "--lane host, which runs the same device code on CPU threads, and --engine cpu";

}  // namespace marrow::gpu
