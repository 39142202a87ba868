// SPDX-License-Identifier: Apache-2.0
// See gpu_engine_loader.h.
#include "cx7/shim/gpu_engine_loader.h"

#include <dlfcn.h>

#include <string>

#include "cx7/cuda/cuda_engine.h"
#include "cx7/shim/settings.h"
#include "util/log.h"

namespace marrow::cx7 {
namespace {

using Factory = decltype(&marrow_cx7_cuda_engine);

bool application_uses_cuda() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver != nullptr) ::dlclose(driver);
  return driver != nullptr;
}

/// Where a GPU was asked for its absence is an error; otherwise it only means that GPU memory cannot be registered.
template <class... Args>
void say(EngineRule rule, fmt::format_string<Args...> sentence, Args&&... args) {
  if (rule == EngineRule::kGpu) {
    util::log::error(sentence, std::forward<Args>(args)...);
  } else {
    util::log::info(sentence, std::forward<Args>(args)...);
  }
}

GpuEngine* make() {
  const Settings& chosen = settings();
  const std::string path = library_directory() + "/libmarrow_cx7_cuda.so";
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    say(chosen.engine, "no engine on a GPU: {}; it is built where nvcc is found", ::dlerror());
    return nullptr;
  }
  const auto factory = reinterpret_cast<Factory>(::dlsym(library, "marrow_cx7_cuda_engine"));
  const cuda::EngineOptions options{.gpu = chosen.gpu,
                                    .shift_ms = chosen.shift_ms,
                                    .strict = chosen.checking == Checking::kStrict,
                                    .warn = [](const char* sentence) { util::log::warn("{}", sentence); }};
  const char* why = "it has no entry point";
  GpuEngine* const engine = factory != nullptr ? factory(&options, &why) : nullptr;
  if (engine == nullptr) say(chosen.engine, "no engine on a GPU: {}", why);
  return engine;
}

/// Asked at each control call that might need it, the engine's lock held; tried once.
GpuEngine* load() {
  static bool tried = false;
  static GpuEngine* engine = nullptr;
  if (tried || (settings().engine == EngineRule::kAuto && !application_uses_cuda())) return engine;
  tried = true;
  return engine = make();
}

}  // namespace

GpuChoice gpu_choice() {
  if (settings().engine == EngineRule::kCpu) return {};
  return {.load = load, .every_queue = settings().engine == EngineRule::kGpu};
}

}  // namespace marrow::cx7
