// SPDX-License-Identifier: Apache-2.0
// Memory that the application has unmapped after registering it: the side that owns it reports an error, nobody
// crashes, and the device goes on serving others. A real NIC would still have the pages; a software one must survive.
#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "loopback.h"

namespace {

using witness::Loopback;
using witness::need;

constexpr std::size_t kBytes = 8192;

void* map() {
  void* at = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  need(at != MAP_FAILED, "mmap");
  std::memset(at, 0x5a, kBytes);
  return at;
}

struct Case {
  const char* name;
  bool unmap_source;
  bool unmap_target;
  ibv_wc_status expected;
};
constexpr Case kCases[] = {
    // NOLINT(modernize-avoid-c-arrays)
    {"nothing unmapped", false, false, IBV_WC_SUCCESS},
    {"source unmapped", true, false, IBV_WC_LOC_PROT_ERR},
    {"target unmapped", false, true, IBV_WC_REM_OP_ERR},
};

/// Queue pairs of its own for each case: an error ends one.
bool run(const Case& test) {
  Loopback pair;
  void* source = map();
  void* target = map();
  ibv_mr* source_mr = need(pair.a.expose(source, kBytes), "ibv_reg_mr");
  ibv_mr* target_mr = need(pair.b.expose(target, kBytes), "ibv_reg_mr");
  if (test.unmap_source) ::munmap(source, kBytes);
  if (test.unmap_target) ::munmap(target, kBytes);
  pair.a.post({.from = source_mr, .from_address = source, .to = target_mr, .to_address = target, .bytes = kBytes});
  const ibv_wc completion = pair.a.wait();
  std::printf("%s: %s\n", test.name, ibv_wc_status_str(completion.status));
  if (completion.status == test.expected) return true;
  std::printf("  expected: %s\n", ibv_wc_status_str(test.expected));
  return false;
}

/// Nothing is there to register.
bool registration_is_refused() {
  Loopback pair;
  void* gone = map();
  ::munmap(gone, kBytes);
  errno = 0;
  const ibv_mr* mr = pair.a.expose(gone, kBytes);
  std::printf("registration of unmapped memory: %s\n", mr == nullptr ? std::strerror(errno) : "accepted");
  return mr == nullptr && errno == EFAULT;
}

}  // namespace

int main() {
  bool right = registration_is_refused();
  for (const Case& test : kCases) right = run(test) && right;
  right = run(kCases[0]) && right;  // the device still works
  return right ? 0 : 1;
}
