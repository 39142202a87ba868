// SPDX-License-Identifier: Apache-2.0
// See memory.h. Facts: cudaMalloc aligns to 256 bytes only [prm: CUDA]; a DMA-BUF must begin on a host page, and a
// GPU's page has 64 KiB [obs: libraries]; SYNC_MEMOPS makes copies end before they return, which the NIC relies on
// [prm: CUDA].
#include "gpu/memory.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

#include "gpu/cuda_call.cuh"
#include "util/error.h"

namespace marrow::gpu {
namespace {

/// A function of the driver, through the runtime: this program does not link libcuda. Null where the driver has none.
template <class Function>
Function driver_function(const char* name, unsigned cuda_version) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const auto result = cudaGetDriverEntryPointByVersion(name, &address, cuda_version, cudaEnableDefault, &found);
  if (result == cudaSuccess && found == cudaDriverEntryPointSuccess) return reinterpret_cast<Function>(address);
  (void)cudaGetLastError();
  return nullptr;
}

void* aligned(void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return reinterpret_cast<void*>((address + verbs::Memory::kAlign - 1) & ~(verbs::Memory::kAlign - 1));
}

class GpuMemory final : public verbs::Memory {
 public:
  GpuMemory(Device& device, std::size_t bytes) : device_(device) {
    device_.use();
    const auto size = rounded(bytes);
    check(cudaMalloc(&allocation_, size + kAlign),
          fmt::format("allocate {} bytes on GPU {}", size + kAlign, device_.index()));
    set(aligned(allocation_), size);
    make_copies_synchronous();
    fill(std::byte{0});
  }
  ~GpuMemory() override {
    if (!device_.broken()) (void)cudaFree(allocation_);  // else it would wait for a kernel that does not end
  }

  void fill(std::byte value) override {
    device_.use();
    check(cudaMemsetAsync(data(), static_cast<int>(value), bytes(), stream_of(device_)), "fill GPU memory");
    finish_setup(device_, "filling memory");
  }
  void write(std::size_t at, std::span<const std::byte> from) override {
    device_.use();
    check(cudaMemcpyAsync(data() + at, from.data(), from.size(), cudaMemcpyHostToDevice, stream_of(device_)),
          "copy to GPU memory");
    finish_setup(device_, "copying to it");
  }
  void read(std::size_t at, std::span<std::byte> to) const override {
    device_.use();
    check(cudaMemcpyAsync(to.data(), data() + at, to.size(), cudaMemcpyDeviceToHost, stream_of(device_)),
          "copy from GPU memory");
    finish_setup(device_, "copying from it");
  }

  [[nodiscard]] util::UniqueFd dma_buf() const override {
    static const auto export_range =
        driver_function<PFN_cuMemGetHandleForAddressRange_v11070>("cuMemGetHandleForAddressRange", 11070);
    if (export_range == nullptr) return {};
    int fd = util::UniqueFd::kNone;
    const auto address = reinterpret_cast<CUdeviceptr>(data());
    const auto result = export_range(&fd, address, bytes(), CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    return result == CUDA_SUCCESS ? util::UniqueFd(fd) : util::UniqueFd();
  }
  [[nodiscard]] std::string kind() const override { return fmt::format("memory of GPU {}", device_.index()); }

 private:
  void make_copies_synchronous() {
    static const auto set_attribute = driver_function<PFN_cuPointerSetAttribute_v6000>("cuPointerSetAttribute", 6000);
    const unsigned on = 1;
    if (set_attribute == nullptr) return;
    (void)set_attribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, reinterpret_cast<CUdeviceptr>(allocation_));
  }

  Device& device_;
  void* allocation_ = nullptr;
};

class PinnedMemory final : public verbs::Memory {
 public:
  PinnedMemory(Device& device, std::size_t bytes) : device_(device) {
    device_.use();
    const auto size = rounded(bytes);
    check(cudaHostAlloc(&allocation_, size + kAlign, cudaHostAllocPortable | cudaHostAllocMapped),
          fmt::format("allocate {} bytes of host memory that GPU {} reaches", size + kAlign, device_.index()));
    set(aligned(allocation_), size);
    fill(std::byte{0});
    require_same_address();
  }
  ~PinnedMemory() override {
    if (!device_.broken()) (void)cudaFreeHost(allocation_);
  }

  void fill(std::byte value) override { std::memset(data(), static_cast<int>(value), bytes()); }
  void write(std::size_t at, std::span<const std::byte> from) override {
    std::memcpy(data() + at, from.data(), from.size());
  }
  void read(std::size_t at, std::span<std::byte> to) const override { std::memcpy(to.data(), data() + at, to.size()); }
  [[nodiscard]] std::string kind() const override {
    return fmt::format("host memory pinned for GPU {}", device_.index());
  }

 private:
  void require_same_address() {
    void* seen = nullptr;
    check(cudaHostGetDevicePointer(&seen, allocation_, 0), "ask where the GPU sees host memory");
    if (seen == allocation_) return;
    (void)cudaFreeHost(allocation_);
    throw util::Error(fmt::format("GPU {} sees host memory under other addresses than the host", device_.index()));
  }

  Device& device_;
  void* allocation_ = nullptr;
};

class Piece final : public verbs::Memory {
 public:
  Piece(std::shared_ptr<verbs::Memory> whole, std::size_t at, std::size_t bytes) : whole_(std::move(whole)), at_(at) {
    set(whole_->data() + at, bytes);
  }
  void fill(std::byte value) override { whole_->write(at_, std::vector(bytes(), value)); }
  void write(std::size_t at, std::span<const std::byte> from) override { whole_->write(at_ + at, from); }
  void read(std::size_t at, std::span<std::byte> to) const override { whole_->read(at_ + at, to); }
  [[nodiscard]] std::string kind() const override { return whole_->kind(); }

  [[nodiscard]] static std::size_t size_of(std::size_t bytes) { return rounded(bytes); }

 private:
  std::shared_ptr<verbs::Memory> whole_;
  std::size_t at_;
};

}  // namespace

std::unique_ptr<verbs::Memory> gpu_memory(Device& device, std::size_t bytes) {
  return std::make_unique<GpuMemory>(device, bytes);
}

std::unique_ptr<verbs::Memory> pinned_memory(Device& device, std::size_t bytes) {
  return std::make_unique<PinnedMemory>(device, bytes);
}

verbs::MemorySource gpu_pool(Device& device, std::size_t bytes) {
  struct Pool {
    std::shared_ptr<verbs::Memory> whole;
    std::size_t used = 0;
  };
  // A source is copied, and all copies cut from one pool.
  return [pool = std::make_shared<Pool>(gpu_memory(device, bytes))](std::size_t wanted) {
    const auto size = Piece::size_of(wanted);
    if (size > pool->whole->bytes() - pool->used) throw util::Error("a pool of GPU memory is used up");
    pool->used += size;
    return std::make_unique<Piece>(pool->whole, pool->used - size, size);
  };
}

}  // namespace marrow::gpu
