// SPDX-License-Identifier: Apache-2.0
// See doorbell_alarm.h.
#include "cx7/shim/doorbell_alarm.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "cx7/shim/open_device.h"
#include "marrow/wire/doorbell.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

constexpr std::uint64_t kFeatures = UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP;
constexpr std::size_t kMostBytesOfALine = 512;

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

}  // namespace

bool DoorbellAlarm::open() {
  if (fd_ || impossible_) return bool(fd_);
  impossible_ = true;
  util::UniqueFd fd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  uffdio_api api{.api = UFFD_API, .features = kFeatures, .ioctls = 0};
  if (!fd || ::ioctl(fd.get(), UFFDIO_API, &api) != 0) {
    util::log::debug("no userfaultfd here: an idle engine has to look for doorbells");
    return false;
  }
  impossible_ = false;
  fd_ = std::move(fd);
  return true;
}

/// Finds the application's mappings of doorbell pages. Ours spans the whole file and stays as it is.
bool DoorbellAlarm::collect() {
  pages_.clear();
  const std::unique_ptr<FILE, CloseFile> maps(std::fopen("/proc/self/maps", "re"));
  if (!maps) return false;
  char text[kMostBytesOfALine];  // NOLINT(modernize-avoid-c-arrays)
  // With the end of the name: the engine writes to other memfds of ours, and must never wait for itself.
  const std::string wanted = std::string("/memfd:") + kMemfdName + " ";
  while (std::fgets(text, sizeof text, maps.get()) != nullptr) {
    const std::string_view line(text);
    if (line.find("/libcuda.so") != std::string_view::npos) return false;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    if (line.find(wanted) == std::string_view::npos) continue;
    if (std::sscanf(text, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || end - start == kDeviceBytes) continue;
    // Page by page: the application may unmap some of them while they are protected.
    for (; start < end; start += wire::kUarBytes) pages_.push_back(start);
  }
  return !pages_.empty();
}

bool DoorbellAlarm::protect(std::uint64_t page) const {
  uffdio_register watch{};
  watch.range = {.start = page, .len = wire::kUarBytes};
  watch.mode = UFFDIO_REGISTER_MODE_WP;
  uffdio_writeprotect protection{};
  protection.range = watch.range;
  protection.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  return ::ioctl(fd_.get(), UFFDIO_REGISTER, &watch) == 0 && ::ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &protection) == 0;
}

bool DoorbellAlarm::arm() {
  if (!open() || !collect()) return false;
  armed_ = std::ranges::all_of(pages_, [this](std::uint64_t page) { return protect(page); });
  if (!armed_) disarm();  // some may be protected
  return armed_;
}

void DoorbellAlarm::disarm() {
  // Refusals come from pages that were unmapped in the meantime; they need nothing, except that no store may be left
  // waiting for one.
  for (const std::uint64_t page : pages_) {
    uffdio_writeprotect protection{};
    protection.range = {.start = page, .len = wire::kUarBytes};
    uffdio_range range = protection.range;
    if (::ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &protection) != 0) ::ioctl(fd_.get(), UFFDIO_WAKE, &range);
  }
  pages_.clear();
  armed_ = false;
}

bool DoorbellAlarm::rings() {
  uffd_msg message{};
  return armed_ && ::read(fd_.get(), &message, sizeof message) == sizeof message;
}

void DoorbellAlarm::abandon() {
  fd_.reset();
  pages_.clear();
  armed_ = false;
}

}  // namespace marrow::cx7
