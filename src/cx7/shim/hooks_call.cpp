// SPDX-License-Identifier: Apache-2.0
// The remaining hooks: ioctl(), which carries the whole control path; socket(), so that libibverbs looks into sysfs;
// syscall(), for libraries that go around libc; sigaction() and signal(), because the device needs SIGSEGV and SIGBUS.
// Facts: only a failing netlink socket makes libibverbs fall back to sysfs [obs: rdma-core 44 and 50].
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>

#include "cx7/hca/memory.h"
#include "cx7/shim/activation.h"
#include "cx7/shim/device_files.h"
#include "cx7/shim/libc.h"
#include "cx7/shim/next.h"

namespace marrow::cx7 {

MARROW_HOOK(int, ioctl, int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  const auto argument = va_arg(arguments, std::uintptr_t);
  va_end(arguments);
  // Asked even when switched off: a device that was opened stays one.
  if (request != RDMA_VERBS_IOCTL) return libc::ioctl(fd, request, argument);
  return DeviceFiles::instance().ioctl(fd, reinterpret_cast<ib_uverbs_ioctl_hdr*>(argument));
}

MARROW_HOOK(int, socket, int domain, int type, int protocol) {
  static constinit Next<int (*)(int, int, int)> next{"socket"};
  if (domain != AF_NETLINK || protocol != NETLINK_RDMA || !is_active()) return next(domain, type, protocol);
  errno = EPROTONOSUPPORT;
  return -1;
}

// Declared by libc, defined by us in the other files: calling the name is calling our hook.
// Takes six arguments whatever the caller passed, as the kernel's entry does: AddressSanitizer must not count them.
MARROW_HOOK(long __attribute__((no_sanitize_address)), syscall, long number, ...) {
  static constinit Next<long (*)(long, ...)> next{"syscall"};
  std::array<long, 6> a{};
  va_list arguments;
  va_start(arguments, number);
  for (long& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_ioctl && static_cast<unsigned long>(a[1]) == RDMA_VERBS_IOCTL) {
    return ::ioctl(static_cast<int>(a[0]), RDMA_VERBS_IOCTL, a[2]);
  }
  if (number == SYS_openat) {
    const auto* path = reinterpret_cast<const char*>(a[1]);
    return ::openat(static_cast<int>(a[0]), path, static_cast<int>(a[2]), static_cast<mode_t>(a[3]));
  }
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

MARROW_HOOK(int, sigaction, int number, const struct sigaction* action, struct sigaction* previous) {
  static constinit Next<int (*)(int, const struct sigaction*, struct sigaction*)> next{"sigaction"};
  if (number == SIGSEGV || number == SIGBUS) return dma::replace_application_action(number, action, previous);
  return next(number, action, previous);
}

MARROW_HOOK(sighandler_t, signal, int number, sighandler_t handler) {
  static constinit Next<sighandler_t (*)(int, sighandler_t)> next{"signal"};
  if (number != SIGSEGV && number != SIGBUS) return next(number, handler);
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // as BSD and glibc do it
  struct sigaction previous {};
  return dma::replace_application_action(number, &action, &previous) == 0 ? previous.sa_handler : SIG_ERR;
}

}  // namespace marrow::cx7
