// SPDX-License-Identifier: Apache-2.0
// The doorbell register as a GPU lane reaches it. Stop 4 of 9 stores to it.
// Facts: a register page is registered as I/O memory, which the driver allows to everybody only with
// PeerMappingOverride=1 [obs: libraries, driver's source]; a page is registered once a process, and a second time is
// refused with "already registered" [prm: CUDA]; the software NIC's page is ordinary memory, which the I/O flag refuses
// [obs: H200, driver 580].
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gpu/device.h"

namespace marrow::gpu {

enum class DoorbellKind : std::uint8_t {
  kIoMemory,        // the GPU's store goes to the NIC over PCIe
  kOrdinaryMemory,  // the page is memory that the NIC watches
  kForwarded,       // the GPU stores to host memory, and a thread of the host rings
};

/// One register, mapped for one GPU. The register and the Device must outlive it.
class Doorbell {
 public:
  /// Tries the kinds from `first` on; the last one always works. \throws util::Error.
  Doorbell(Device& device, volatile std::uint64_t* reg, DoorbellKind first = DoorbellKind::kIoMemory);
  ~Doorbell();
  Doorbell(Doorbell&&) noexcept;
  Doorbell& operator=(Doorbell&&) = delete;

  /// For gda::Qp::doorbell of a GPU lane. Written only.
  [[nodiscard]] volatile std::uint64_t* on_gpu() const { return on_gpu_; }
  [[nodiscard]] DoorbellKind kind() const { return kind_; }
  /// For headers and records; tells also what was tried before and why it did not work.
  [[nodiscard]] const std::string& describe() const { return text_; }

 private:
  class Page;       // a registered page
  class Forwarder;  // a thread that rings

  bool map(Device& device, volatile std::uint64_t* reg, DoorbellKind kind, std::string& why);
  void forward(Device& device, volatile std::uint64_t* reg);

  std::shared_ptr<Page> page_;
  std::unique_ptr<Forwarder> forwarder_;
  volatile std::uint64_t* on_gpu_ = nullptr;
  DoorbellKind kind_{};
  std::string text_;
};

}  // namespace marrow::gpu
