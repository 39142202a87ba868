// SPDX-License-Identifier: Apache-2.0
// The tables in the GPU's memory, written from the host while the GPU works by them.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstring>

#include "cx7/cuda/cuda_call.cuh"
#include "cx7/cuda/shifts.cuh"
#include "cx7/cuda/tables.h"

namespace marrow::cx7::cuda {

/// On the device that is current when it is made; the same must be current at every call. All throw util::Error.
class TableMemory {
 public:
  TableMemory();
  TableMemory(const TableMemory&) = delete;
  TableMemory& operator=(const TableMemory&) = delete;

  /// For addresses of entries; the host must not follow them.
  [[nodiscard]] Tables& there() const { return *tables_; }
  [[nodiscard]] Board& board() const { return *board_; }

  template <class Entry>
  void write(Entry& to, const Entry& from) {
    static_assert(sizeof(Entry) <= kStagingBytes);
    std::memcpy(staging_, &from, sizeof from);
    copy(&to, staging_, sizeof from);
  }
  void read(void* to, const void* from, std::size_t bytes) const { copy(to, from, bytes); }
  /// Zeroes memory of the engine's GPU.
  void clear(void* at, std::size_t bytes) const;

  /// Returns once every warp works by the tables as they are now, and has written down where it is.
  void publish(const Shifts& shifts);

 private:
  static constexpr std::size_t kStagingBytes = 256;
  void copy(void* to, const void* from, std::size_t bytes) const;

  Tables* tables_ = nullptr;
  Board* board_ = nullptr;
  void* staging_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::uint32_t generation_ = 0;
};

}  // namespace marrow::cx7::cuda
