// SPDX-License-Identifier: Apache-2.0
// The open device files of this process. A device's descriptor is a sparse memfd: doorbell pages are its pages, so the
// application's mmap() needs no hook and the engine sees every store through its own mapping. A descriptor is
// recognised by its inode, so that duplicates and descriptors that came over a socket work.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

struct ib_uverbs_ioctl_hdr;

namespace marrow::cx7 {

class OpenDevice;

class DeviceFiles {
 public:
  /// The one of this process; never destroyed.
  static DeviceFiles& instance();

  /// What open("/dev/infiniband/uverbsN", flags) returns. Starts the engine at the first call. -1 and errno.
  int open(int device, int flags);

  /// RDMA_VERBS_IOCTL. -1 and errno: EIO when the descriptor belongs to the parent or to another process; what the
  /// kernel says when it is no device at all.
  int ioctl(int fd, ib_uverbs_ioctl_hdr* header);

  /// Makes a memfd of ours, or the placeholder of a node in the tree, look like the character device it stands for.
  void dress(struct stat& status) const;

  /// True for a descriptor number known to be an open device of this very process. Two loads when there is none.
  [[nodiscard]] bool is_device(int fd) const;
  /// True while any device is open here: what duplicates descriptors then needs a look().
  [[nodiscard]] bool any() const;

  /// Before close(fd): the returned reference keeps the device until the number is really free. The last one destroys.
  [[nodiscard]] std::shared_ptr<OpenDevice> forget(int fd);
  /// The same for every descriptor in [first, last].
  [[nodiscard]] std::set<std::shared_ptr<OpenDevice>> forget_range(unsigned first, unsigned last);
  /// After dup and the like made `fd`: finds out whether it is a device, and remembers.
  void look(int fd);

  // Around fork(). The child's devices are defunct: their engine lives in the parent.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  DeviceFiles() = default;
  std::shared_ptr<OpenDevice> find_locked(int fd);
  void remember_locked(int fd, const std::shared_ptr<OpenDevice>& device);

  mutable std::mutex mutex_;
  std::map<ino_t, std::weak_ptr<OpenDevice>> by_inode_;
  std::map<int, std::shared_ptr<OpenDevice>> by_fd_;
};

}  // namespace marrow::cx7
