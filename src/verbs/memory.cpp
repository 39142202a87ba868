// SPDX-License-Identifier: Apache-2.0
// See memory.h.
#include "verbs/memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace marrow::verbs {

HostBuffer::HostBuffer(std::size_t bytes) {
  const auto size = rounded(bytes);
  auto* const data = std::aligned_alloc(kAlign, size);
  if (data == nullptr) throw std::bad_alloc();
  std::memset(data, 0, size);
  set(data, size);
}

HostBuffer::~HostBuffer() {
  std::free(data());
}

void HostBuffer::fill(std::byte value) {
  std::memset(data(), static_cast<int>(value), bytes());
}

void HostBuffer::write(std::size_t at, std::span<const std::byte> from) {
  std::memcpy(data() + at, from.data(), from.size());
}

void HostBuffer::read(std::size_t at, std::span<std::byte> to) const {
  std::memcpy(to.data(), data() + at, to.size());
}

std::unique_ptr<Memory> take(const MemorySource& source, std::size_t bytes) {
  return source ? source(bytes) : std::make_unique<HostBuffer>(bytes);
}

const char* name_of(Registration how) {
  return how == Registration::kAddress ? "address" : "DMA-BUF";
}

}  // namespace marrow::verbs
