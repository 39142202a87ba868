// SPDX-License-Identifier: Apache-2.0
// See scheduling.h.
#include "cx7/shim/scheduling.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace marrow::cx7 {
namespace {

/// struct sched_attr as of its first version [abi: linux/sched/types.h, which glibc's <sched.h> does not bear].
struct SchedAttributes {
  std::uint32_t size = sizeof(SchedAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // of SCHED_OTHER: the slice, since Linux 6.12; ignored before
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

}  // namespace

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // More cores than the set can hold: then there are enough.
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : CPU_SETSIZE;
}

void become_punctual() {
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // or a nap of 20 us takes 70
  // The shortest slice there is: who asks for less at once is let in earlier, and also leaves the core earlier when it
  // spins where others want to run.
  SchedAttributes attributes{.nice = ::getpriority(PRIO_PROCESS, 0), .runtime = 100'000};
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void EvidenceReader::open() {
  loadavg_.reset(::open("/proc/loadavg", O_RDONLY | O_CLOEXEC));
  cores_ = usable_cores();
}

Evidence EvidenceReader::read() const {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return {.crowded = is_crowded(), .involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

/// "0.20 0.18 0.12 1/80 11206": the fourth word begins with the number of threads that want to run now, ours among
/// them. A process that is bound to some of the machine's cores may find itself crowded when it is not; then it naps.
bool EvidenceReader::is_crowded() const {
  std::array<char, 96> text{};
  const ssize_t n = loadavg_ ? ::pread(loadavg_.get(), text.data(), text.size() - 1, 0) : -1;
  const char* word = n > 0 ? text.data() : nullptr;
  for (int i = 0; i < 3 && word != nullptr; ++i) {
    word = std::strchr(word, ' ');
    if (word != nullptr) ++word;
  }
  return word != nullptr && std::strtoul(word, nullptr, 10) > cores_;
}

}  // namespace marrow::cx7
