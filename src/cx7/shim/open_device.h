// SPDX-License-Identifier: Apache-2.0
// One open of /dev/infiniband/uverbsN: the memfd that stands for it and the uverbs file behind.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cx7/abi/file.h"

namespace marrow::cx7 {

/// Bytes of a device's memfd, all of them a hole until a doorbell page is used.
inline constexpr std::uint64_t kDeviceBytes = std::uint64_t{1} << 30;
inline constexpr char kMemfdName[] = "marrow-cx7-uverbs";  // NOLINT(modernize-avoid-c-arrays): handed to the kernel

/// Doorbell pages out of a memfd. Page numbers are unique per device of this process, whatever open they belong to.
/// No descriptor is kept: an application that closes numbers it does not know cannot make us write elsewhere.
class MemfdPages final : public DevicePages {
 public:
  /// Throws util::Error when the file cannot be mapped.
  MemfdPages(int device, int memfd);
  ~MemfdPages() override;
  MemfdPages(const MemfdPages&) = delete;
  MemfdPages& operator=(const MemfdPages&) = delete;

  std::optional<DevicePage> allocate() override;
  void release(const DevicePage& page) override;

 private:
  int device_;
  std::byte* file_;  // the whole memfd
};

class OpenDevice {
 public:
  /// `memfd` is only looked at. Throws util::Error.
  OpenDevice(Engine& engine, int device, int memfd);
  ~OpenDevice();
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;

  /// 0 or -errno.
  int ioctl(ib_uverbs_ioctl_hdr* header);
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] ino_t inode() const { return inode_; }

  /// In a forked child: the objects are the parent's, so nothing here may be touched or destroyed any more.
  void abandon();

 private:
  int device_;
  ino_t inode_;
  std::unique_ptr<MemfdPages> pages_;
  std::unique_ptr<File> file_;
  std::atomic<bool> abandoned_{false};
};

}  // namespace marrow::cx7
