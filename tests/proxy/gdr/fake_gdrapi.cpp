// SPDX-License-Identifier: Apache-2.0
// Stands in for GDRCopy's library where a test names its folder in LD_LIBRARY_PATH: "GPU memory" is host memory, mapped
// where it is. MARROW_TEST_GDR names the call that fails. Facts: prototypes [obs: GDRCopy 2.4 header].
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

struct Handle {
  unsigned long address;  // NOLINT(google-runtime-int)
};

int open_handles = 0;

bool fails(const char* call) {
  const char* const named = std::getenv("MARROW_TEST_GDR");
  return named != nullptr && std::string_view(named) == call;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void* gdr_open() {
  return fails("gdr_open") ? nullptr : &open_handles;
}
EXPORTED int gdr_close(void*) {
  return 0;
}
EXPORTED int gdr_pin_buffer(void*, unsigned long address, std::size_t, std::uint64_t, std::uint32_t, Handle* handle) {
  if (fails("gdr_pin_buffer") || address % 65536 != 0) return 22;
  ++open_handles;
  handle->address = address;
  return 0;
}
EXPORTED int gdr_unpin_buffer(void*, Handle) {
  --open_handles;
  return 0;
}
EXPORTED int gdr_map(void*, Handle handle, void** at, std::size_t) {
  if (fails("gdr_map")) return 12;
  ++open_handles;
  *at = reinterpret_cast<void*>(handle.address);
  return 0;
}
EXPORTED int gdr_unmap(void*, Handle, void*, std::size_t) {
  --open_handles;
  return 0;
}
/// For tests alone: what is pinned and mapped.
EXPORTED int marrow_test_gdr_open_handles() {
  return open_handles;
}
