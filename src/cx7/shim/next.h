// SPDX-License-Identifier: Apache-2.0
// Interposing: how a hook takes a libc name, and how it reaches the function that would have been called without us.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cerrno>

/// Defines the function that the whole process calls as `name`. The asm label keeps libc's own declaration, with its
/// attributes and exception specification, out of the way.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it makes a symbol name
#define MARROW_HOOK(result, name, ...)                                                                    \
  extern "C" __attribute__((visibility("default"), used)) result hook_##name(__VA_ARGS__) __asm__(#name); \
  extern "C" result hook_##name(__VA_ARGS__)

namespace marrow::cx7 {

[[noreturn]] void die_without_next(const char* name);

/// The next definition of a libc function behind ours. Looked up at the first call, because hooks run before any
/// constructor; any thread; leaves errno alone.
template <class Function>
class Next {
 public:
  explicit constexpr Next(const char* name) : name_(name) {}

  template <class... Args>
  auto operator()(Args... args) {
    return get()(args...);
  }

 private:
  Function get() {
    void* known = found_.load(std::memory_order_relaxed);
    return reinterpret_cast<Function>(known != nullptr ? known : look_up());
  }
  [[gnu::noinline]] void* look_up() {
    const int kept = errno;
    void* found = ::dlsym(RTLD_NEXT, name_);
    if (found == nullptr) die_without_next(name_);
    found_.store(found, std::memory_order_relaxed);
    errno = kept;
    return found;
  }

  const char* name_;
  std::atomic<void*> found_{nullptr};
};

}  // namespace marrow::cx7
