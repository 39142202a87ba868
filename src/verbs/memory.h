// SPDX-License-Identifier: Apache-2.0
// Memory that lanes and the device share: queues, records, payload. What kind it is (host memory here, GPU memory in
// src/gpu) is the business of whoever hands it out; queues and regions only ask for a MemorySource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "util/fd.h"

namespace marrow::verbs {

/// A zeroed buffer that begins and ends on 64 KiB, so that an object at its start fits any page size, a GPU's too.
class Memory {
 public:
  static constexpr std::size_t kAlign = 64u << 10;

  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  /// The address under which the device is told of it and lanes use it. The host may follow it only where the memory
  /// is its own: fill(), write() and read() work everywhere, but are no part of a message's path.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }  // rounded up

  virtual void fill(std::byte value) = 0;
  virtual void write(std::size_t at, std::span<const std::byte> from) = 0;
  virtual void read(std::size_t at, std::span<std::byte> to) const = 0;

  /// The same memory as a DMA-BUF that begins at data(); none where the kernel or the kind of memory has none.
  [[nodiscard]] virtual util::UniqueFd dma_buf() const { return {}; }
  /// "host memory", "memory of GPU 0"
  [[nodiscard]] virtual std::string kind() const = 0;

 protected:
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) {
    return ((bytes == 0 ? 1 : bytes) + kAlign - 1) & ~(kAlign - 1);
  }
  void set(void* data, std::size_t bytes) {
    data_ = static_cast<std::byte*>(data);
    bytes_ = bytes;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

using MemorySource = std::function<std::unique_ptr<Memory>(std::size_t bytes)>;

/// Ordinary memory of this process.
class HostBuffer final : public Memory {
 public:
  explicit HostBuffer(std::size_t bytes);
  ~HostBuffer() override;
  void fill(std::byte value) override;
  void write(std::size_t at, std::span<const std::byte> from) override;
  void read(std::size_t at, std::span<std::byte> to) const override;
  [[nodiscard]] std::string kind() const override { return "host memory"; }
};

/// From `source`, or host memory where there is none. \throws util::Error when it has none left.
[[nodiscard]] std::unique_ptr<Memory> take(const MemorySource& source, std::size_t bytes);

/// How the device came to know a piece of memory.
enum class Registration : std::uint8_t {
  kAddress,  // by its address: host memory, or a GPU's where the kernel can pin it (nvidia-peermem)
  kDmaBuf,   // as a DMA-BUF
};
[[nodiscard]] const char* name_of(Registration how);

}  // namespace marrow::verbs
