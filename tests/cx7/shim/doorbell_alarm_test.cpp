// SPDX-License-Identifier: Apache-2.0
// The alarm holds a store back until the engine has seen it, touches doorbell pages only, and never keeps anybody
// waiting for ever.
#include "cx7/shim/doorbell_alarm.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cx7/shim/open_device.h"

namespace marrow::cx7 {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kPage = 4096;

/// Pages of a memfd, mapped as an application maps them.
class Pages {
 public:
  Pages(const char* name, std::size_t pages) : bytes_(pages * kPage) {
    const util::UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes_)), 0);
    at_ = ::mmap(nullptr, bytes_, PROT_WRITE, MAP_SHARED, fd.get(), 0);
    EXPECT_NE(at_, MAP_FAILED);
  }
  ~Pages() { ::munmap(at_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  [[nodiscard]] char* page(std::size_t index) const { return static_cast<char*>(at_) + index * kPage; }

 private:
  std::size_t bytes_;
  void* at_;
};

/// A thread that stores once.
class Ringer {
 public:
  explicit Ringer(char* at)
      : thread_([this, at] {
          std::atomic_ref<char>(*at).store(1);
          done_ = true;
        }) {}
  [[nodiscard]] bool is_done_within(std::chrono::milliseconds time) const {
    for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
      if (done_) return true;
      std::this_thread::sleep_for(1ms);
    }
    return done_;
  }

 private:
  std::atomic<bool> done_{false};
  std::jthread thread_;
};

bool is_readable_within(int fd, std::chrono::milliseconds time) {
  pollfd polled{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&polled, 1, static_cast<int>(time.count())) == 1;
}

#define ARM_OR_SKIP(alarm) \
  if (!(alarm).arm()) GTEST_SKIP() << "userfaultfd with write protection of shared memory is not available here"

TEST(DoorbellAlarm, IsNotArmedWhereNothingIsMapped) {
  DoorbellAlarm alarm;
  EXPECT_FALSE(alarm.arm());
  EXPECT_FALSE(alarm.armed());
  EXPECT_FALSE(alarm.rings());
}

TEST(DoorbellAlarm, LeavesOtherMemoryOfOursAlone) {
  const Pages links("marrow-cx7-link", 1);
  const Pages alike("marrow-cx7-uverbs2", 1);
  DoorbellAlarm alarm;
  EXPECT_FALSE(alarm.arm());
}

TEST(DoorbellAlarm, HoldsAStoreBackUntilItIsDisarmed) {
  const Pages doorbells(kMemfdName, 2);
  DoorbellAlarm alarm;
  ARM_OR_SKIP(alarm);
  EXPECT_FALSE(alarm.rings());
  const Ringer ringer(doorbells.page(1));
  EXPECT_TRUE(is_readable_within(alarm.fd(), 5000ms));
  EXPECT_FALSE(ringer.is_done_within(20ms));
  EXPECT_TRUE(alarm.rings());
  alarm.disarm();
  EXPECT_TRUE(ringer.is_done_within(5000ms));
  EXPECT_FALSE(alarm.armed());
  const Ringer next(doorbells.page(0));
  EXPECT_TRUE(next.is_done_within(5000ms));
}

TEST(DoorbellAlarm, ReleasesAStoreAlthoughAnotherPageIsGone) {
  const Pages doorbells(kMemfdName, 3);
  DoorbellAlarm alarm;
  ARM_OR_SKIP(alarm);
  const Ringer ringer(doorbells.page(2));
  EXPECT_TRUE(is_readable_within(alarm.fd(), 5000ms));
  ::munmap(doorbells.page(0), kPage);
  alarm.disarm();
  EXPECT_TRUE(ringer.is_done_within(5000ms));
}

TEST(DoorbellAlarm, CanBeArmedAgainWithPagesThatCameLater) {
  const Pages first(kMemfdName, 1);
  DoorbellAlarm alarm;
  ARM_OR_SKIP(alarm);
  alarm.disarm();
  const Pages later(kMemfdName, 1);
  ASSERT_TRUE(alarm.arm());
  const Ringer ringer(later.page(0));
  EXPECT_TRUE(is_readable_within(alarm.fd(), 5000ms));
  alarm.disarm();
  EXPECT_TRUE(ringer.is_done_within(5000ms));
}

TEST(DoorbellAlarm, ReleasesAStoreWhenItGoes) {
  const Pages doorbells(kMemfdName, 1);
  auto alarm = std::make_unique<DoorbellAlarm>();
  ARM_OR_SKIP(*alarm);
  const Ringer ringer(doorbells.page(0));
  EXPECT_TRUE(is_readable_within(alarm->fd(), 5000ms));
  alarm.reset();
  EXPECT_TRUE(ringer.is_done_within(5000ms));
}

}  // namespace
}  // namespace marrow::cx7
