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
  ranges_.clear();
  const std::unique_ptr<FILE, CloseFile> maps(std::fopen("/proc/self/maps", "re"));
  if (!maps) return false;
  char text[kMostBytesOfALine];  // NOLINT(modernize-avoid-c-arrays)
  const std::string wanted = std::string("/memfd:") + kMemfdName;
  while (std::fgets(text, sizeof text, maps.get()) != nullptr) {
    const std::string_view line(text);
    if (line.find("/libcuda.so") != std::string_view::npos) return false;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    if (line.find(wanted) == std::string_view::npos) continue;
    if (std::sscanf(text, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || end - start == kDeviceBytes) continue;
    ranges_.push_back({.start = start, .bytes = end - start});
  }
  return !ranges_.empty();
}

bool DoorbellAlarm::protect(const Range& range, bool on) const {
  uffdio_writeprotect request{};
  request.range = {.start = range.start, .len = range.bytes};
  request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
  return ::ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &request) == 0;
}

bool DoorbellAlarm::arm() {
  if (!open() || !collect()) return false;
  armed_ = std::ranges::all_of(ranges_, [this](const Range& range) {
    uffdio_register request{};
    request.range = {.start = range.start, .len = range.bytes};
    request.mode = UFFDIO_REGISTER_MODE_WP;
    return ::ioctl(fd_.get(), UFFDIO_REGISTER, &request) == 0 && protect(range, true);
  });
  if (!armed_) disarm();  // some may be protected
  return armed_;
}

void DoorbellAlarm::disarm() {
  // A range that was unmapped in the meantime refuses, and needs nothing.
  for (const Range& range : ranges_) static_cast<void>(protect(range, false));
  ranges_.clear();
  armed_ = false;
}

bool DoorbellAlarm::rings() {
  uffd_msg message{};
  return armed_ && ::read(fd_.get(), &message, sizeof message) == sizeof message;
}

void DoorbellAlarm::abandon() {
  fd_.reset();
  ranges_.clear();
  armed_ = false;
}

}  // namespace marrow::cx7
