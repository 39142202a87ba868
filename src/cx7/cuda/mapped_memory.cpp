// SPDX-License-Identifier: Apache-2.0
// See mapped_memory.h.
#include "cx7/cuda/mapped_memory.h"

#include <cuda_runtime_api.h>

namespace marrow::cx7::cuda {
namespace {

constexpr std::uintptr_t kPage = 4096;

/// An error is the answer, not a failure: the next call must not find it.
void forget_error() {
  static_cast<void>(cudaGetLastError());
}

}  // namespace

Place place_of(const void* at) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, at) != cudaSuccess) {
    forget_error();
    return {};
  }
  if (attributes.type == cudaMemoryTypeDevice) return {.home = Home::kGpu, .gpu = attributes.device};
  return {.at = static_cast<std::byte*>(attributes.devicePointer)};
}

std::byte* HostRegistrations::map(const void* at, std::uint64_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(at) & ~(kPage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(at) + bytes + kPage - 1) & ~(kPage - 1);
  auto known = ranges_.upper_bound(first);
  if (known != ranges_.begin() && (--known)->second.end >= end) {
    ++known->second.users;
    return place_of(at).at;
  }
  if (std::byte* const theirs = place_of(at).at) return theirs;  // registered by the application
  auto* const range = reinterpret_cast<void*>(first);            // NOLINT(performance-no-int-to-ptr)
  if (cudaHostRegister(range, end - first, cudaHostRegisterMapped | cudaHostRegisterPortable) != cudaSuccess) {
    forget_error();
    return nullptr;
  }
  ranges_[first] = {.end = end, .users = 1};
  return place_of(at).at;
}

void HostRegistrations::unmap(const void* at, std::uint64_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(at);
  auto known = ranges_.upper_bound(first);
  if (known == ranges_.begin() || (--known)->second.end < first + bytes) return;
  if (--known->second.users != 0) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (cudaHostUnregister(reinterpret_cast<void*>(known->first)) != cudaSuccess) forget_error();
  ranges_.erase(known);
}

}  // namespace marrow::cx7::cuda
