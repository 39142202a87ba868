// SPDX-License-Identifier: Apache-2.0
// See doorbell.h. A page may hold several registers, so pages are shared and registered once.
#include "gpu/doorbell.h"

#include <fmt/format.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "gpu/cuda_call.cuh"
#include "gpu/memory.h"
#include "util/log.h"

namespace marrow::gpu {
namespace {

constexpr std::uintptr_t kPageBytes = 4096;  // of a UAR

void* page_of(volatile std::uint64_t* reg) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(reg) & ~(kPageBytes - 1));
}

}  // namespace

/// Registered until the last register on it goes; one that somebody else has registered stays theirs.
class Doorbell::Page {
 public:
  /// Null with the reason in `why` when the page does not take this kind.
  static std::shared_ptr<Page> get(Device& device, void* page, DoorbellKind kind, std::string& why) {
    static std::mutex lock;
    static std::map<void*, std::weak_ptr<Page>> pages;
    const std::lock_guard guard(lock);
    if (auto known = pages[page].lock()) {
      why = "the page is mapped otherwise already";
      return known->kind_ == kind ? known : nullptr;
    }
    const unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped |
                           (kind == DoorbellKind::kIoMemory ? cudaHostRegisterIoMemory : 0);
    const auto result = cudaHostRegister(page, kPageBytes, flags);
    (void)cudaGetLastError();
    const bool by_others = result == cudaErrorHostMemoryAlreadyRegistered;
    if (result != cudaSuccess && !by_others) {
      why = cudaGetErrorString(result);
      return nullptr;
    }
    auto made = std::shared_ptr<Page>(new Page(device, page, kind, !by_others));
    pages[page] = made;
    return made;
  }
  ~Page() {
    if (ours_ && !device_.broken()) (void)cudaHostUnregister(page_);
  }

 private:
  Page(Device& device, void* page, DoorbellKind kind, bool ours)
      : device_(device), page_(page), kind_(kind), ours_(ours) {}

  Device& device_;
  void* page_;
  DoorbellKind kind_;
  bool ours_;
};

/// Copies each new value of a word in host memory to the register. None is seen twice and none that matters is missed:
/// a lane cannot announce more than a ring ahead of what was rung, so 16-bit indices differ while they wait.
class Doorbell::Forwarder {
 public:
  Forwarder(Device& device, volatile std::uint64_t* reg)
      : word_(pinned_memory(device, sizeof(std::uint64_t))), reg_(reg), thread_([this] { forward(); }) {}
  ~Forwarder() {
    stop_ = true;
    thread_.join();
  }
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  [[nodiscard]] volatile std::uint64_t* word() const { return reinterpret_cast<std::uint64_t*>(word_->data()); }

 private:
  void forward() {
    std::uint64_t rung = 0;
    while (!stop_.load(std::memory_order_relaxed)) {
      const auto value = std::atomic_ref(*const_cast<std::uint64_t*>(word())).load(std::memory_order_acquire);
      if (value == rung) {
        rest();
        continue;
      }
      rung = value;
      std::atomic_ref(*const_cast<std::uint64_t*>(reg_)).store(value, std::memory_order_release);
#if defined(__x86_64__)
      _mm_sfence();  // the register may be mapped write-combining
#endif
    }
  }
  static void rest() {
    static const bool crowded = std::thread::hardware_concurrency() <= 2;
    if (crowded) return std::this_thread::sleep_for(std::chrono::microseconds(20));
#if defined(__x86_64__)
    _mm_pause();
#endif
  }

  std::unique_ptr<verbs::Memory> word_;
  volatile std::uint64_t* reg_;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it uses everything above
};

Doorbell::Doorbell(Device& device, volatile std::uint64_t* reg, DoorbellKind first) {
  device.use();
  struct Attempt {
    DoorbellKind kind;
    const char* name;
  };
  constexpr std::array kAttempts{Attempt{DoorbellKind::kIoMemory, "I/O memory"},
                                 Attempt{DoorbellKind::kOrdinaryMemory, "ordinary memory"}};
  std::string refusals;
  for (const auto& attempt : kAttempts) {
    if (attempt.kind < first) continue;
    std::string why;
    if (map(device, reg, attempt.kind, why)) {
      text_ = fmt::format("UAR register mapped to the GPU as {}{}", attempt.name, refusals);
      return;
    }
    refusals += fmt::format("; not as {}: {}", attempt.name, why);
  }
  forward(device, reg);
  text_ = "a word in host memory that a host thread forwards to the UAR register" + refusals;
}

bool Doorbell::map(Device& device, volatile std::uint64_t* reg, DoorbellKind kind, std::string& why) {
  auto page = Page::get(device, page_of(reg), kind, why);
  if (page == nullptr) return false;
  void* seen = nullptr;
  const auto result = cudaHostGetDevicePointer(&seen, const_cast<std::uint64_t*>(reg), 0);
  if (result != cudaSuccess) {
    (void)cudaGetLastError();
    why = cudaGetErrorString(result);
    return false;
  }
  page_ = std::move(page);
  on_gpu_ = static_cast<volatile std::uint64_t*>(seen);
  kind_ = kind;
  return true;
}

void Doorbell::forward(Device& device, volatile std::uint64_t* reg) {
  forwarder_ = std::make_unique<Forwarder>(device, reg);
  on_gpu_ = forwarder_->word();
  kind_ = DoorbellKind::kForwarded;
  util::log::once("forwarded doorbell",
                  "a host thread rings for the GPU; on a real NIC the driver option "
                  "NVreg_RegistryDwords=PeerMappingOverride=1 lets the GPU ring itself");
}

Doorbell::~Doorbell() = default;
Doorbell::Doorbell(Doorbell&&) noexcept = default;

}  // namespace marrow::gpu
