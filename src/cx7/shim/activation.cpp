// SPDX-License-Identifier: Apache-2.0
// See activation.h.
#include "cx7/shim/activation.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cx7/shim/next.h"
#include "cx7/shim/settings.h"
#include "util/error.h"

namespace marrow::cx7 {
namespace {

enum class Activation { kUndecided, kOff, kOn };
constinit std::atomic<Activation> activation{Activation::kUndecided};

bool decide() {
  const char* asked = std::getenv("MARROW_SIM");
  const bool on = asked != nullptr && std::string_view(asked) == "1";
  auto undecided = Activation::kUndecided;
  activation.compare_exchange_strong(undecided, on ? Activation::kOn : Activation::kOff);
  return activation.load() == Activation::kOn;
}

[[noreturn]] void exit_with(std::string text, int code) {
  text += '\n';
  // Not write(): the process may have no working libc yet.
  [[maybe_unused]] const auto written = ::syscall(SYS_write, STDERR_FILENO, text.data(), text.size());
  ::_exit(code);
}

/// A preloaded process with a bad environment ends before its main(), not in the middle of its work.
[[gnu::constructor]] void check_settings_at_start() {
  if (is_active()) static_cast<void>(settings_or_exit());
}

}  // namespace

bool is_active() {
  const Activation now = activation.load(std::memory_order_relaxed);
  return now == Activation::kOn || (now == Activation::kUndecided && decide());
}

void activate() {
  static_cast<void>(settings());
  activation.store(Activation::kOn);
}

void deactivate() {
  activation.store(Activation::kOff);
}

const Settings& settings_or_exit() {
  try {
    return settings();
  } catch (const util::Error& error) {
    exit_with(util::describe(error), error.exit_code());
  }
}

void die_without_next(const char* name) {
  exit_with(std::string("error: libmarrow_cx7.so found no ") + name + "() behind its own", 1);
}

}  // namespace marrow::cx7
