// SPDX-License-Identifier: Apache-2.0
// Hooks of the stat family. Paths are redirected; afterwards a device's memfd, and the placeholder of a uverbs node,
// are made to look like the character device they stand for. On 64-bit Linux struct stat and struct stat64 are one.
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>

#include "cx7/shim/device_files.h"
#include "cx7/shim/next.h"
#include "cx7/shim/redirected.h"

namespace marrow::cx7 {
namespace {

static_assert(sizeof(struct stat) == 144, "struct stat of 64-bit Linux, the same as struct stat64");

int dressed(int result, struct stat* status) {
  if (result == 0) DeviceFiles::instance().dress(*status);
  return result;
}

void dress(struct statx& status) {
  struct stat same {};
  same.st_mode = status.stx_mode;
  same.st_size = static_cast<off_t>(status.stx_size);
  same.st_ino = status.stx_ino;
  same.st_dev = makedev(status.stx_dev_major, status.stx_dev_minor);
  DeviceFiles::instance().dress(same);
  if (!S_ISCHR(same.st_mode) || S_ISCHR(status.stx_mode)) return;
  status.stx_mode = static_cast<std::uint16_t>(same.st_mode);
  status.stx_size = 0;
  status.stx_blocks = 0;
  status.stx_rdev_major = major(same.st_rdev);
  status.stx_rdev_minor = minor(same.st_rdev);
}

}  // namespace

#define MARROW_STAT(name)                                                  \
  MARROW_HOOK(int, name, const char* path, struct stat* status) {          \
    static constinit Next<int (*)(const char*, struct stat*)> next{#name}; \
    return dressed(next(Redirected(path).path(), status), status);         \
  }
MARROW_STAT(stat)
MARROW_STAT(stat64)
MARROW_STAT(lstat)
MARROW_STAT(lstat64)

#define MARROW_FSTAT(name)                                         \
  MARROW_HOOK(int, name, int fd, struct stat* status) {            \
    static constinit Next<int (*)(int, struct stat*)> next{#name}; \
    return dressed(next(fd, status), status);                      \
  }
MARROW_FSTAT(fstat)
MARROW_FSTAT(fstat64)

#define MARROW_FSTATAT(name)                                                                \
  MARROW_HOOK(int, name, int directory, const char* path, struct stat* status, int flags) { \
    static constinit Next<int (*)(int, const char*, struct stat*, int)> next{#name};        \
    return dressed(next(directory, Redirected(path).path(), status, flags), status);        \
  }
MARROW_FSTATAT(fstatat)
MARROW_FSTATAT(fstatat64)

// What programs linked against glibc before 2.33 call. A newer glibc has them for old programs only, so the next one
// cannot be looked up; version 1 of the struct is today's, and there is no other on 64-bit Linux.
#define MARROW_XSTAT(name, of, ...)                  \
  MARROW_HOOK(int, name, int version, __VA_ARGS__) { \
    if (version != 0 && version != 1) {              \
      errno = EINVAL;                                \
      return -1;                                     \
    }                                                \
    return of;                                       \
  }
MARROW_XSTAT(__xstat, hook_stat(path, status), const char* path, struct stat* status)
MARROW_XSTAT(__xstat64, hook_stat(path, status), const char* path, struct stat* status)
MARROW_XSTAT(__lxstat, hook_lstat(path, status), const char* path, struct stat* status)
MARROW_XSTAT(__lxstat64, hook_lstat(path, status), const char* path, struct stat* status)
MARROW_XSTAT(__fxstat, hook_fstat(fd, status), int fd, struct stat* status)
MARROW_XSTAT(__fxstat64, hook_fstat(fd, status), int fd, struct stat* status)
MARROW_XSTAT(__fxstatat, hook_fstatat(at, path, status, flags), int at, const char* path, struct stat* status,
             int flags)
MARROW_XSTAT(__fxstatat64, hook_fstatat(at, path, status, flags), int at, const char* path, struct stat* status,
             int flags)

MARROW_HOOK(int, statx, int directory, const char* path, int flags, unsigned mask, struct statx* status) {
  static constinit Next<int (*)(int, const char*, int, unsigned, struct statx*)> next{"statx"};
  const int result = next(directory, Redirected(path).path(), flags, mask, status);
  if (result == 0) dress(*status);
  return result;
}

}  // namespace marrow::cx7
