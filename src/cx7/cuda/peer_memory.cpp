// SPDX-License-Identifier: Apache-2.0
// See peer_memory.h. Facts: a handle is made for an allocation's first byte and opens there; memory of cuMemCreate and
// of pools has none of this kind; the exporter must not free before the importer has closed [prm: CUDA, interprocess
// communication].
#include "cx7/cuda/peer_memory.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "cx7/cuda/cuda_call.cuh"
#include "cx7/cuda/mapped_memory.h"
#include "util/error.h"

namespace marrow::cx7::cuda {
namespace {

struct Allocation {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
};

/// The allocation that `at` lies in; empty where the driver does not say.
Allocation allocation_of(const std::byte* at) {
  static const auto ask = []() -> PFN_cuMemGetAddressRange_v3020 {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const auto got =
        cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &address, 3020, cudaEnableDefault, &found);
    static_cast<void>(cudaGetLastError());
    const bool there = got == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return there ? reinterpret_cast<PFN_cuMemGetAddressRange_v3020>(address) : nullptr;
  }();
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  if (ask == nullptr || ask(&base, &bytes, reinterpret_cast<CUdeviceptr>(at)) != CUDA_SUCCESS) return {};
  return {reinterpret_cast<std::byte*>(base), bytes};  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

SharedRange share_memory(const std::byte* at, std::uint64_t bytes) try {
  SharedRange range;
  const Place place = cuda::place_of(at);
  if (place.home != Home::kGpu) return range;
  range.how = SharedRange::How::kNotShareable;
  const Current current(place.gpu);
  const Allocation allocation = allocation_of(at);
  if (allocation.base == nullptr) return range;
  range.offset = static_cast<std::uint64_t>(at - allocation.base);
  if (range.offset > allocation.bytes || bytes > allocation.bytes - range.offset) return range;  // several allocations
  cudaIpcMemHandle_t handle{};
  static_assert(sizeof handle == sizeof range.handle);
  require(cudaIpcGetMemHandle(&handle, allocation.base), "a handle of GPU memory");
  std::memcpy(range.handle.data(), &handle, sizeof handle);
  range.how = SharedRange::How::kHandle;
  return range;
} catch (const util::Error&) {
  return {.how = SharedRange::How::kNotShareable};  // who needs it says so
}

PeerMemory::Mapping& PeerMemory::map(const Handle& handle) {
  const auto known = mappings_.find(handle);
  if (known != mappings_.end()) return known->second;
  cudaIpcMemHandle_t theirs{};
  std::memcpy(&theirs, handle.data(), sizeof theirs);
  void* base = nullptr;
  require(cudaIpcOpenMemHandle(&base, theirs, cudaIpcMemLazyEnablePeerAccess), "opening GPU memory of another process");
  Mapping& made = mappings_[handle];
  made.base = static_cast<std::byte*>(base);
  const Allocation block = allocation_of(made.base);  // may begin before: small allocations share one
  made.bytes = block.base != nullptr ? static_cast<std::uint64_t>(block.base + block.bytes - made.base) : UINT64_MAX;
  return made;
}

std::byte* PeerMemory::open(const SharedRange& range, std::uint64_t bytes) {
  Mapping& mapping = map(range.handle);
  ++mapping.users;
  if (range.offset <= mapping.bytes && bytes <= mapping.bytes - range.offset) return mapping.base + range.offset;
  close(range.handle);
  throw util::Error("another process shares more GPU memory than it has");
}

void PeerMemory::close(const Handle& handle) {
  const auto known = mappings_.find(handle);
  if (known == mappings_.end() || --known->second.users != 0) return;
  if (cudaIpcCloseMemHandle(known->second.base) != cudaSuccess) static_cast<void>(cudaGetLastError());
  mappings_.erase(known);
}

}  // namespace marrow::cx7::cuda
