// SPDX-License-Identifier: Apache-2.0
// See ring_memory.h. Facts: memfd_create(2), F_ADD_SEALS in fcntl(2).
#include "cx7/fabric/ring_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include "util/error.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

constexpr std::size_t kSharedBytes = kRingDataOffset + kPeerRingBytes;
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

void* map(std::size_t bytes, int flags, int fd) {
  void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  return base == MAP_FAILED ? nullptr : base;
}

}  // namespace

RingMemory RingMemory::make_private(std::uint32_t ring_bytes) {
  void* const base = map(kRingDataOffset + ring_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (base == nullptr) throw util::system_error("memory for the links inside the process", errno);
  new (base) RingControl{};
  return {base, ring_bytes};
}

std::optional<RingMemory> RingMemory::make_shared(util::UniqueFd& fd) {
  fd.reset(::memfd_create("marrow-cx7-link", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const bool sized = fd && ::ftruncate(fd.get(), kSharedBytes) == 0 && ::fcntl(fd.get(), F_ADD_SEALS, kSizeSeals) == 0;
  void* const base = sized ? map(kSharedBytes, MAP_SHARED, fd.get()) : nullptr;
  if (base == nullptr) {
    util::log::once("fabric memfd", "no memory for a link to another process: {}",
                    util::system_error("memfd", errno).what());
    return std::nullopt;
  }
  new (base) RingControl{};
  return RingMemory(base, kPeerRingBytes);
}

std::optional<RingMemory> RingMemory::map_shared(int fd) {
  struct stat status {};
  const int seals = ::fcntl(fd, F_GET_SEALS);
  const bool sound = seals >= 0 && (seals & kSizeSeals) == kSizeSeals && ::fstat(fd, &status) == 0 &&
                     status.st_size == static_cast<off_t>(kSharedBytes);
  void* const base = sound ? map(kSharedBytes, MAP_SHARED, fd) : nullptr;
  if (base == nullptr) return std::nullopt;
  return RingMemory(base, kPeerRingBytes);
}

RingMemory::RingMemory(RingMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), ring_bytes_(other.ring_bytes_) {}

RingMemory::~RingMemory() {
  if (base_ != nullptr) ::munmap(base_, kRingDataOffset + ring_bytes_);
}

RingView RingMemory::view() const {
  return {static_cast<RingControl*>(base_), static_cast<std::byte*>(base_) + kRingDataOffset, ring_bytes_};
}

}  // namespace marrow::cx7
