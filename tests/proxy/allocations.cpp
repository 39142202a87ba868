// SPDX-License-Identifier: Apache-2.0
// Replaces operator new and delete of the whole program by ones that count. A file of its own: where they are seen to
// be malloc() and free(), g++ warns of pairs that do not match.
#include "proxy/allocations.h"

#include <cstdlib>
#include <new>

namespace {
thread_local std::uint64_t allocations = 0;

void* counted(void* at) {
  ++allocations;
  if (at == nullptr) throw std::bad_alloc();
  return at;
}
}  // namespace

std::uint64_t marrow::proxy::testing::allocations_of_this_thread() {
  return allocations;
}

void* operator new(std::size_t bytes) {
  return counted(std::malloc(bytes == 0 ? 1 : bytes));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit));
}
void operator delete(void* at) noexcept {
  std::free(at);
}
void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}
void operator delete(void* at, std::align_val_t) noexcept {
  std::free(at);
}
void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  std::free(at);
}
