// SPDX-License-Identifier: Apache-2.0
// See device_files.h. Lock order: the engine's lock, then ours. So no engine call is made with ours held, and
// is_device(), which close() asks from below the engine's lock, takes none.
#include "cx7/shim/device_files.h"

#include <fcntl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>

#include "cx7/fw/port.h"
#include "cx7/shim/activation.h"
#include "cx7/shim/engine_thread.h"
#include "cx7/shim/libc.h"
#include "cx7/shim/open_device.h"
#include "cx7/shim/settings.h"
#include "cx7/shim/tree.h"
#include "util/error.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

constexpr int kTracked = 1 << 16;  // descriptor numbers above are found by inode only

/// Numbers in by_fd_, readable without the lock.
constinit std::array<std::atomic<bool>, kTracked> is_ours{};
constinit std::atomic<int> open_count{0};
constinit std::atomic<pid_t> owner{0};

struct NodeId {
  dev_t device = 0;
  ino_t inode = 0;
};

/// The tree's placeholders of the uverbs nodes. An inode keeps its identity for as long as the tree is installed.
const std::array<NodeId, kDevices>& placeholders() {
  static const auto* const ids = [] {
    auto* found = new std::array<NodeId, kDevices>;
    for (std::uint8_t i = 0; i < kDevices; ++i) {
      const auto path = settings_or_exit().tree + std::string(kNodes) + "/" + std::string(device_facts(i).node);
      struct stat status {};
      if (libc::stat(path.c_str(), &status) == 0) found->at(i) = {.device = status.st_dev, .inode = status.st_ino};
    }
    return found;
  }();
  return *ids;
}

void make_character_device(struct stat& status, int device) {
  status.st_mode = S_IFCHR | 0666;
  status.st_rdev = makedev(kUverbsMajor, kUverbsFirstMinor + static_cast<unsigned>(device));
  status.st_size = 0;
  status.st_blocks = 0;
}

/// The kernel's file takes the older commands by write(2), which are not modelled: sealed in size and only to be
/// appended to, a memfd refuses every write, where it would else swallow the command and report success.
bool refuses_writes(int fd) {
  return libc::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0 && libc::fcntl(fd, F_SETFL, O_APPEND) == 0;
}

/// A sparse memfd of kDeviceBytes, or -1 and errno.
int make_memfd(int flags) {
  const unsigned close_on_exec = (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0;
  const int fd = ::memfd_create(kMemfdName, close_on_exec | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  if (::ftruncate(fd, static_cast<off_t>(kDeviceBytes)) == 0 && refuses_writes(fd)) return fd;
  const int kept = errno;
  libc::close(fd);
  errno = kept;
  return -1;
}

/// One of our memfds, made by another process or before a fork that we did not see.
bool is_foreign_device(int fd) {
  std::array<char, 64> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t n = libc::readlink(link.c_str(), name.data(), name.size());
  return n > 0 &&
         std::string_view(name.data(), static_cast<std::size_t>(n)).starts_with(std::string("/memfd:") + kMemfdName);
}

int fail(int error_number) {
  errno = error_number;
  return -1;
}

}  // namespace

DeviceFiles& DeviceFiles::instance() {
  static auto* const files = new DeviceFiles;
  return *files;
}

int DeviceFiles::open(int device, int flags) {
  if ((flags & O_DIRECTORY) != 0) return fail(ENOTDIR);
  std::shared_ptr<OpenDevice> opened;
  int fd = -1;
  try {
    Engine& engine = EngineThread::instance().start();
    fd = make_memfd(flags);
    if (fd < 0) return -1;
    if (fd < kTracked) opened = std::make_shared<OpenDevice>(engine, device, fd);
  } catch (const util::Error& error) {
    util::log::error("cannot open device {}: {}", device, error.what());
    if (fd >= 0) libc::close(fd);
    return fail(EIO);
  }
  if (!opened) {
    libc::close(fd);
    return fail(EMFILE);
  }
  const std::lock_guard lock(mutex_);
  owner = ::getpid();
  by_inode_[opened->inode()] = opened;
  remember_locked(fd, opened);
  return fd;
}

int DeviceFiles::ioctl(int fd, ib_uverbs_ioctl_hdr* header) {
  std::shared_ptr<OpenDevice> device;
  {
    const std::lock_guard lock(mutex_);
    device = find_locked(fd);
  }
  if (!device) return is_foreign_device(fd) ? fail(EIO) : libc::ioctl(fd, RDMA_VERBS_IOCTL, header);
  if (owner != ::getpid()) return fail(EIO);
  const int status = device->ioctl(header);
  EngineThread::instance().control_call_done();
  return status < 0 ? fail(-status) : status;
}

void DeviceFiles::dress(struct stat& status) const {
  if (!S_ISREG(status.st_mode)) return;
  if (status.st_size == static_cast<off_t>(kDeviceBytes)) {
    const std::lock_guard lock(mutex_);
    const auto found = by_inode_.find(status.st_ino);
    const auto device = found == by_inode_.end() ? nullptr : found->second.lock();
    if (device) make_character_device(status, device->device());
    return;
  }
  if (status.st_size != 0 || !is_active()) return;
  for (int i = 0; i < kDevices; ++i) {
    const NodeId& id = placeholders()[static_cast<std::size_t>(i)];
    if (id.inode == status.st_ino && id.device == status.st_dev) make_character_device(status, i);
  }
}

bool DeviceFiles::is_device(int fd) const {
  if (!any() || fd < 0 || fd >= kTracked || !is_ours[static_cast<std::size_t>(fd)].load(std::memory_order_relaxed)) {
    return false;
  }
  return owner == ::getpid();  // the child of a vfork() shares our memory, but not our descriptors
}

bool DeviceFiles::any() const {
  return open_count.load(std::memory_order_relaxed) != 0;
}

std::shared_ptr<OpenDevice> DeviceFiles::forget(int fd) {
  const std::lock_guard lock(mutex_);
  const auto found = by_fd_.find(fd);
  if (found == by_fd_.end()) return nullptr;
  auto device = std::move(found->second);
  by_fd_.erase(found);
  is_ours[static_cast<std::size_t>(fd)] = false;
  open_count = static_cast<int>(by_fd_.size());
  std::erase_if(by_inode_, [](const auto& entry) { return entry.second.expired(); });
  return device;
}

std::set<std::shared_ptr<OpenDevice>> DeviceFiles::forget_range(unsigned first, unsigned last) {
  std::set<int> numbers;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [fd, device] : by_fd_) {
      if (static_cast<unsigned>(fd) >= first && static_cast<unsigned>(fd) <= last) numbers.insert(fd);
    }
  }
  std::set<std::shared_ptr<OpenDevice>> devices;
  for (const int fd : numbers) devices.insert(forget(fd));
  return devices;
}

void DeviceFiles::look(int fd) {
  if (owner != ::getpid()) return;
  std::shared_ptr<OpenDevice> replaced = forget(fd);  // destroyed, if at all, after the lock is gone
  const std::lock_guard lock(mutex_);
  static_cast<void>(find_locked(fd));
}

std::shared_ptr<OpenDevice> DeviceFiles::find_locked(int fd) {
  struct stat status {};
  if (libc::fstat(fd, &status) != 0 || status.st_size != static_cast<off_t>(kDeviceBytes)) return nullptr;
  const auto found = by_inode_.find(status.st_ino);
  auto device = found == by_inode_.end() ? nullptr : found->second.lock();
  if (device) remember_locked(fd, device);
  return device;
}

void DeviceFiles::remember_locked(int fd, const std::shared_ptr<OpenDevice>& device) {
  if (fd >= kTracked) return;
  by_fd_[fd] = device;
  is_ours[static_cast<std::size_t>(fd)] = true;
  open_count = static_cast<int>(by_fd_.size());
}

void DeviceFiles::before_fork() {
  mutex_.lock();
}

void DeviceFiles::after_fork_in_parent() {
  mutex_.unlock();
}

void DeviceFiles::after_fork_in_child() {
  owner = ::getpid();
  for (const auto& [fd, device] : by_fd_) device->abandon();
  mutex_.unlock();
}

}  // namespace marrow::cx7
