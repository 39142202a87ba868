// SPDX-License-Identifier: Apache-2.0
// The real libc calls that the shim itself needs: its own calls by name would land in its own hooks.
#pragma once

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstdio>

#include "cx7/shim/next.h"

namespace marrow::cx7::libc {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): each is one cached address
inline constinit Next<int (*)(int)> close{"close"};
inline constinit Next<int (*)(int, int, ...)> fcntl{"fcntl"};
inline constinit Next<int (*)(int, unsigned long, ...)> ioctl{"ioctl"};
inline constinit Next<int (*)(int, struct stat*)> fstat{"fstat"};
inline constinit Next<int (*)(const char*, struct stat*)> stat{"stat"};
inline constinit Next<char* (*)(const char*, char*)> realpath{"realpath"};
inline constinit Next<ssize_t (*)(const char*, char*, size_t)> readlink{"readlink"};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace marrow::cx7::libc
