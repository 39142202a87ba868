// SPDX-License-Identifier: Apache-2.0
// A file descriptor with one owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace marrow::util {

class UniqueFd {
 public:
  static constexpr int kNone = -1;

  UniqueFd() noexcept = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

  /// Gives the descriptor up without closing it.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, kNone); }

  /// Closes what is held and takes `fd`. close() is not retried on EINTR: Linux has freed the number by then.
  void reset(int fd = kNone) noexcept {
    const int old = std::exchange(fd_, fd);
    if (old >= 0) ::close(old);
  }

 private:
  int fd_ = kNone;
};

}  // namespace marrow::util
