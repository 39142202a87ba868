// SPDX-License-Identifier: Apache-2.0
// See counter_files.h.
#include "cx7/shim/counter_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cx7/fw/port.h"
#include "cx7/hca/neighbours.h"
#include "cx7/shim/activation.h"
#include "cx7/shim/engine_thread.h"
#include "cx7/shim/libc.h"
#include "cx7/shim/port_counters.h"
#include "cx7/shim/settings.h"

namespace marrow::cx7 {
namespace {

constexpr unsigned kNoSlot = 256;

struct CounterFile {
  std::uint8_t device = 0;
  const PortCounter* counter = nullptr;
};

using FileId = std::pair<dev_t, ino_t>;

/// All of the tree in force, found once.
const std::map<FileId, CounterFile>& counter_files() {
  static const auto* const files = [] {
    auto* found = new std::map<FileId, CounterFile>;
    for (std::uint8_t device = 0; device < kDevices; ++device) {
      for (const PortCounter& counter : kPortCounterTable) {
        const auto path = fmt::format("{}/sys/class/infiniband/{}/ports/1/{}/{}", settings_or_exit().tree,
                                      device_facts(device).name, counter.folder, counter.name);
        struct stat status {};
        if (libc::stat(path.c_str(), &status) == 0) found->insert({{status.st_dev, status.st_ino}, {device, &counter}});
      }
    }
    return found;
  }();
  return *files;
}

std::optional<CounterFile> counter_behind(int fd) {
  struct stat status {};
  if (libc::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto found = counter_files().find({status.st_dev, status.st_ino});
  return found == counter_files().end() ? std::nullopt : std::optional(found->second);
}

/// Of the port: what this process has counted, and what the others have.
Counters counts_of(std::uint8_t device) {
  Engine* const engine = EngineThread::instance().engine();
  Counters own;
  if (engine != nullptr) {
    const Engine::Lock lock(*engine);
    own = engine->counters(device);
  }
  // Without the lock: this process's engine has to answer, too, when two processes ask each other.
  const auto others =
      counts_elsewhere(settings_or_exit().domain, engine != nullptr ? engine->fabric().slot() : kNoSlot);
  return own += others.at(device);
}

int fail(int error_number) {
  errno = error_number;
  return -1;
}

/// A file in memory that holds `text` and nothing else ever.
int file_with(const std::string& text, int flags) {
  const unsigned close_on_exec = (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0;
  const int fd = ::memfd_create("marrow-cx7-counter", close_on_exec | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  constexpr int kForGood = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  const bool whole = ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  if (whole && libc::fcntl(fd, F_ADD_SEALS, kForGood) == 0) return fd;
  libc::close(fd);
  return fail(EIO);
}

int value_of(const CounterFile& file, int flags) {
  if ((flags & O_ACCMODE) != O_RDONLY) return fail(EACCES);
  const std::uint64_t front = link_layer() == LinkLayer::kInfiniBand ? kLrhWords : 0;
  return file_with(fmt::format("{}\n", file.counter->value(counts_of(file.device), front)), flags);
}

}  // namespace

bool may_be_counter(const char* path) {
  if (path == nullptr || !is_active()) return false;
  const char* const slash = std::strrchr(path, '/');
  const std::string_view name(slash == nullptr ? path : slash + 1);
  return std::ranges::any_of(kPortCounterTable, [name](const PortCounter& counter) { return counter.name == name; });
}

int with_value(int fd, int flags) {
  const auto file = fd < 0 || (flags & O_PATH) != 0 ? std::nullopt : counter_behind(fd);
  if (!file) return fd;
  libc::close(fd);
  return value_of(*file, flags);
}

std::FILE* with_value(std::FILE* file, const char* mode) {
  const auto counter = file == nullptr ? std::nullopt : counter_behind(::fileno(file));
  if (!counter) return file;
  std::fclose(file);
  const bool writes = mode[0] != 'r' || std::strchr(mode, '+') != nullptr;
  const int close_on_exec = std::strchr(mode, 'e') != nullptr ? O_CLOEXEC : 0;
  const int fd = value_of(*counter, (writes ? O_RDWR : O_RDONLY) | close_on_exec);
  return fd < 0 ? nullptr : ::fdopen(fd, mode);
}

}  // namespace marrow::cx7
