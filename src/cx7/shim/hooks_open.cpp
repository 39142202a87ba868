// SPDX-License-Identifier: Apache-2.0
// Hooks that open things: a uverbs node becomes a device file, any other path below the taken-over names is opened in
// the device tree. glibc's own calls do not come through here, so fopen(), opendir() and scandir() have their own.
#include <dirent.h>
#include <fcntl.h>

#include <cstdarg>
#include <cstdio>

#include "cx7/shim/counter_files.h"
#include "cx7/shim/device_files.h"
#include "cx7/shim/next.h"
#include "cx7/shim/redirected.h"

namespace marrow::cx7 {
namespace {

bool takes_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

/// The optional third argument of the open family.
#define MARROW_MODE_OF(flags, mode)   \
  mode_t mode = 0;                    \
  if (takes_mode(flags)) {            \
    va_list arguments;                \
    va_start(arguments, flags);       \
    mode = va_arg(arguments, mode_t); \
    va_end(arguments);                \
  }

/// What an open of the file at `path` gave, or its value where it is a counter of a port.
int opened(int fd, const Redirected& path, int flags) {
  return may_be_counter(path.path()) ? with_value(fd, flags) : fd;
}

/// O_PATH asks for a place, not for the device.
bool opens_device(const Redirected& to, int flags) {
  return to.node() && (flags & O_PATH) == 0;
}

}  // namespace

// open() and what _FORTIFY_SOURCE makes of it.
#define MARROW_OPEN(name)                                                                \
  MARROW_HOOK(int, name, const char* path, int flags, ...) {                             \
    MARROW_MODE_OF(flags, mode)                                                          \
    static constinit Next<int (*)(const char*, int, ...)> next{#name};                   \
    const Redirected to(path);                                                           \
    if (opens_device(to, flags)) return DeviceFiles::instance().open(*to.node(), flags); \
    return opened(next(to.path(), flags, mode), to, flags);                              \
  }
MARROW_OPEN(open)
MARROW_OPEN(open64)

#define MARROW_OPEN_2(name)                                                              \
  MARROW_HOOK(int, name, const char* path, int flags) {                                  \
    static constinit Next<int (*)(const char*, int)> next{#name};                        \
    const Redirected to(path);                                                           \
    if (opens_device(to, flags)) return DeviceFiles::instance().open(*to.node(), flags); \
    return opened(next(to.path(), flags), to, flags);                                    \
  }
MARROW_OPEN_2(__open_2)
MARROW_OPEN_2(__open64_2)

// An absolute path makes the directory irrelevant; a relative one below a directory of the tree is in the tree already.
#define MARROW_OPENAT(name)                                                              \
  MARROW_HOOK(int, name, int directory, const char* path, int flags, ...) {              \
    MARROW_MODE_OF(flags, mode)                                                          \
    static constinit Next<int (*)(int, const char*, int, ...)> next{#name};              \
    const Redirected to(path);                                                           \
    if (opens_device(to, flags)) return DeviceFiles::instance().open(*to.node(), flags); \
    return opened(next(directory, to.path(), flags, mode), to, flags);                   \
  }
MARROW_OPENAT(openat)
MARROW_OPENAT(openat64)

#define MARROW_OPENAT_2(name)                                                            \
  MARROW_HOOK(int, name, int directory, const char* path, int flags) {                   \
    static constinit Next<int (*)(int, const char*, int)> next{#name};                   \
    const Redirected to(path);                                                           \
    if (opens_device(to, flags)) return DeviceFiles::instance().open(*to.node(), flags); \
    return opened(next(directory, to.path(), flags), to, flags);                         \
  }
MARROW_OPENAT_2(__openat_2)
MARROW_OPENAT_2(__openat64_2)

#define MARROW_FOPEN(name)                                                  \
  MARROW_HOOK(FILE*, name, const char* path, const char* mode) {            \
    static constinit Next<FILE* (*)(const char*, const char*)> next{#name}; \
    const Redirected to(path);                                              \
    FILE* const file = next(to.path(), mode);                               \
    return may_be_counter(to.path()) ? with_value(file, mode) : file;       \
  }
MARROW_FOPEN(fopen)
MARROW_FOPEN(fopen64)

MARROW_HOOK(DIR*, opendir, const char* path) {
  static constinit Next<DIR* (*)(const char*)> next{"opendir"};
  return next(Redirected(path).path());
}

using Filter = int (*)(const dirent*);
using Compare = int (*)(const dirent**, const dirent**);
#define MARROW_SCANDIR(name)                                                                 \
  MARROW_HOOK(int, name, const char* path, dirent*** list, Filter filter, Compare compare) { \
    static constinit Next<int (*)(const char*, dirent***, Filter, Compare)> next{#name};     \
    return next(Redirected(path).path(), list, filter, compare);                             \
  }
MARROW_SCANDIR(scandir)
MARROW_SCANDIR(scandir64)

}  // namespace marrow::cx7
