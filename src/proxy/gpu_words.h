// SPDX-License-Identifier: Apache-2.0
// GPU memory as a CPU thread can store to it, through GDRCopy where it is installed: for completion words that a GPU
// polls in its own memory. The library is looked for at run time; nothing here needs it to build.
// Facts: gdrapi.h's functions and types [obs: GDRCopy 2.4 header].
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "verbs/memory.h"

namespace marrow::proxy {

/// A mapping of the whole of a piece of GPU memory, write-combining. The memory must outlive it.
class GpuWords {
 public:
  /// Never throws for want of GDRCopy: then data() is null and why_not() says what is missing.
  explicit GpuWords(const verbs::Memory& gpu);
  ~GpuWords();
  GpuWords(const GpuWords&) = delete;
  GpuWords& operator=(const GpuWords&) = delete;

  /// For Ring::done of the worker's side, with CounterPlace::kGpu; the lane's side keeps the memory's own address.
  [[nodiscard]] std::byte* data() const { return data_; }
  /// "host counter: libgdrapi.so.2 is not installed"; empty when mapped.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
  std::byte* data_ = nullptr;
  std::string why_not_;
};

}  // namespace marrow::proxy
