// SPDX-License-Identifier: Apache-2.0
// See open_device.h.
#include "cx7/shim/open_device.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <vector>

#include "cx7/hca/engine.h"
#include "cx7/shim/libc.h"
#include "marrow/wire/doorbell.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

// As many as CREATE_CQ can name: its page number has 16 bits.
constexpr std::uint32_t kPages = 1u << 16;
static_assert(std::uint64_t{kPages} * wire::kUarBytes <= kDeviceBytes);

/// Page numbers of one device in use. Round robin, so that a stale number stays unknown for long. Engine's lock held.
class PageNumbers {
 public:
  /// 0 when all are taken.
  std::uint32_t take() {
    if (used_.empty()) used_.resize(kPages);
    for (std::uint32_t tried = 1; tried < kPages; ++tried) {
      last_ = last_ + 1 < kPages ? last_ + 1 : 1;
      if (used_[last_]) continue;
      used_[last_] = true;
      return last_;
    }
    return 0;
  }
  void give_back(std::uint32_t page) { used_[page] = false; }

 private:
  std::vector<bool> used_;
  std::uint32_t last_ = 0;
};

PageNumbers& page_numbers(int device) {
  static auto* const numbers = new std::array<PageNumbers, kDevices>;  // outlives every device
  return numbers->at(static_cast<std::size_t>(device));
}

ino_t inode_of(int fd) {
  struct stat status {};
  if (libc::fstat(fd, &status) != 0) throw util::system_error("fstat of a device's memfd", errno);
  return status.st_ino;
}

}  // namespace

MemfdPages::MemfdPages(int device, int memfd) : device_(device) {
  void* at = ::mmap(nullptr, kDeviceBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memfd, 0);
  if (at == MAP_FAILED) throw util::system_error("mmap of a device's doorbell pages", errno);
  ::madvise(at, kDeviceBytes, MADV_DONTDUMP);
  file_ = static_cast<std::byte*>(at);
}

MemfdPages::~MemfdPages() {
  ::munmap(file_, kDeviceBytes);
}

std::optional<DevicePage> MemfdPages::allocate() {
  const std::uint32_t page = page_numbers(device_).take();
  if (page == 0) return std::nullopt;
  const std::uint64_t offset = std::uint64_t{page} * wire::kUarBytes;
  return DevicePage{.file_offset = offset, .registers = file_ + offset};
}

void MemfdPages::release(const DevicePage& page) {
  // Zeroes it for the next owner, and gives the memory back; the application may still have it mapped.
  ::madvise(page.registers, wire::kUarBytes, MADV_REMOVE);
  page_numbers(device_).give_back(static_cast<std::uint32_t>(page.file_offset / wire::kUarBytes));
}

OpenDevice::OpenDevice(Engine& engine, int device, int memfd)
    : device_(device),
      inode_(inode_of(memfd)),
      pages_(std::make_unique<MemfdPages>(device, memfd)),
      file_(std::make_unique<File>(engine, static_cast<std::uint8_t>(device), *pages_)) {}

OpenDevice::~OpenDevice() {
  if (!abandoned_) return;
  static_cast<void>(file_.release());
  static_cast<void>(pages_.release());
}

int OpenDevice::ioctl(ib_uverbs_ioctl_hdr* header) {
  return abandoned_ ? -EIO : file_->ioctl(header);
}

void OpenDevice::abandon() {
  abandoned_ = true;
}

}  // namespace marrow::cx7
