// SPDX-License-Identifier: Apache-2.0
// One opened uverbs device: what the kernel keeps for an open file of /dev/infiniband/uverbsN. The shim catches the
// application's ioctl() and calls File::ioctl(); everything below (decoding, objects, firmware) starts there.
// Facts: RDMA_VERBS_IOCTL and its errno conventions [abi: rdma/rdma_user_ioctl_cmds.h].
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

struct ib_uverbs_ioctl_hdr;

namespace marrow::cx7 {

class Engine;

/// A doorbell page that the application can map.
struct DevicePage {
  std::uint64_t file_offset = 0;   // what the application passes to mmap() of the device's descriptor
  std::byte* registers = nullptr;  // our own mapping of the same 4096 bytes, zeroed
};

/// Where doorbell pages come from: the shim's memfd in a program, plain memory in tests. Called with the engine's lock
/// held, so it must not block and must not call back.
class DevicePages {
 public:
  virtual ~DevicePages() = default;
  /// A free page, or nothing when there is none left. `file_offset` is a multiple of 4096 in [4096, 2^28) that no
  /// other living page of the same device has, whichever File it belongs to: offset / 4096 is the doorbell page's
  /// number (uar_page), and the kernel's CREATE_CQ has 16 bits for it.
  [[nodiscard]] virtual std::optional<DevicePage> allocate() = 0;
  virtual void release(const DevicePage& page) = 0;
};

/// Any thread may call; calls on one device take turns (the engine's lock).
class File {
 public:
  /// \param device  0 or 1. `engine` and `pages` must outlive the File.
  File(Engine& engine, std::uint8_t device, DevicePages& pages);
  /// Destroys what the application left alive: QPs, CQs, keys, domains, doorbell pages, in that order.
  /// Takes the engine's lock.
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// The argument of ioctl(fd, RDMA_VERBS_IOCTL, header). `header` is the application's pointer: an address it cannot
  /// reach gives EFAULT. Returns 0 or -errno; takes the engine's lock.
  [[nodiscard]] int ioctl(ib_uverbs_ioctl_hdr* header);

  [[nodiscard]] std::uint8_t device() const { return device_; }

 private:
  struct State;
  std::uint8_t device_;
  std::unique_ptr<State> state_;
};

}  // namespace marrow::cx7
