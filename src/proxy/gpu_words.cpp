// SPDX-License-Identifier: Apache-2.0
// See gpu_words.h. The four calls and their types are declared here as the library's ABI has them, so that its header
// is not needed.
#include "proxy/gpu_words.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace marrow::proxy {
namespace {

struct Handle {
  unsigned long value = 0;  // NOLINT(google-runtime-int): as in the ABI
};

struct Library {
  void* (*open)();
  int (*close)(void*);
  // address, bytes, token and va_space of the old peer-to-peer interface, both 0
  int (*pin)(void*, unsigned long, std::size_t, std::uint64_t, std::uint32_t, Handle*);  // NOLINT
  int (*unpin)(void*, Handle);
  int (*map)(void*, Handle, void**, std::size_t);
  int (*unmap)(void*, Handle, void*, std::size_t);

  /// Null with `why` when it is not installed, or is not what we know.
  static const Library* load(std::string& why);
};

template <class Function>
bool find(void* object, const char* name, Function& function, std::string& why) {
  function = reinterpret_cast<Function>(::dlsym(object, name));
  if (function == nullptr) why = fmt::format("libgdrapi.so.2 has no {}", name);
  return function != nullptr;
}

const Library* Library::load(std::string& why) {
  static Library library{};
  void* const object = ::dlopen("libgdrapi.so.2", RTLD_NOW | RTLD_LOCAL);  // stays: it is needed until the end
  if (object == nullptr) {
    why = "GDRCopy is not installed (no libgdrapi.so.2)";
    return nullptr;
  }
  const bool all = find(object, "gdr_open", library.open, why) && find(object, "gdr_close", library.close, why) &&
                   find(object, "gdr_pin_buffer", library.pin, why) &&
                   find(object, "gdr_unpin_buffer", library.unpin, why) && find(object, "gdr_map", library.map, why) &&
                   find(object, "gdr_unmap", library.unmap, why);
  return all ? &library : nullptr;
}

}  // namespace

/// Undoes what has been done.
struct GpuWords::Mapping {
  const Library* library = nullptr;
  void* driver = nullptr;
  bool pinned = false;
  Handle handle{};
  void* at = nullptr;
  std::size_t bytes = 0;

  ~Mapping() {
    if (at != nullptr) library->unmap(driver, handle, at, bytes);
    if (pinned) library->unpin(driver, handle);
    if (driver != nullptr) library->close(driver);
  }
  /// What did not work; empty when all did.
  std::string make(const verbs::Memory& gpu);
};

std::string GpuWords::Mapping::make(const verbs::Memory& gpu) {
  std::string why;
  library = Library::load(why);
  if (library == nullptr) return why;
  driver = library->open();
  if (driver == nullptr) return "GDRCopy is installed, but its driver gdrdrv does not answer";
  bytes = gpu.bytes();
  const auto address = reinterpret_cast<std::uintptr_t>(gpu.data());  // 64 KiB aligned, as the driver's pages are
  if (const int error = library->pin(driver, address, bytes, 0, 0, &handle); error != 0) {
    return fmt::format("GDRCopy could not pin {} (error {})", gpu.kind(), error);
  }
  pinned = true;
  if (const int error = library->map(driver, handle, &at, bytes); error != 0) {
    at = nullptr;
    return fmt::format("GDRCopy could not map {} (error {})", gpu.kind(), error);
  }
  return {};
}

GpuWords::GpuWords(const verbs::Memory& gpu) : mapping_(std::make_unique<Mapping>()) {
  const auto why = mapping_->make(gpu);
  if (why.empty()) {
    data_ = static_cast<std::byte*>(mapping_->at);
  } else {
    why_not_ = "host counter: " + why;
    mapping_.reset();
  }
}

GpuWords::~GpuWords() = default;

}  // namespace marrow::proxy
