// SPDX-License-Identifier: Apache-2.0
#include "cx7/abi/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "cx7/abi/refusal.h"
#include "util/log.h"

namespace marrow::cx7::abi {
namespace {

// A pipe without readers raises SIGPIPE, and the thread is the application's: keep the signal from it.
class NoSigPipe {
 public:
  NoSigPipe() {
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before_);
  }
  ~NoSigPipe() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSigPipe(const NoSigPipe&) = delete;
  NoSigPipe& operator=(const NoSigPipe&) = delete;
  /// Takes away the one that a write has just raised.
  void swallow() const {
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    const timespec at_once{};
    while (sigtimedwait(&pipe_only, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }

 private:
  sigset_t before_{};
};

ssize_t write_quietly(int fd, std::span<const std::byte> bytes) {
  const NoSigPipe guard;
  const auto written = ::write(fd, bytes.data(), bytes.size());
  const int error_number = errno;
  if (written < 0 && error_number == EPIPE) guard.swallow();
  errno = error_number;
  return written;
}

// Everything that can be read at once. A second opening of the pipe, so that the application's blocking mode stays its
// own.
std::vector<std::byte> drain(int write_end) {
  const util::UniqueFd reader(
      ::open(("/proc/self/fd/" + std::to_string(write_end)).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::vector<std::byte> all;
  std::byte some[4096];
  for (;;) {
    const auto got = reader ? ::read(reader.get(), some, sizeof some) : 0;
    if (got <= 0) return all;
    all.insert(all.end(), some, some + got);
  }
}

}  // namespace

EventChannel::EventChannel(std::size_t record_bytes) : record_bytes_(record_bytes) {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC) == 0, errno);
  read_end_.reset(ends[0]);
  write_end_.reset(ends[1]);
  require(::fcntl(write_end_.get(), F_SETFL, O_NONBLOCK) == 0, errno);
  struct stat status {};
  require(::fstat(write_end_.get(), &status) == 0, errno);
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

bool EventChannel::is(int fd) const {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

bool EventChannel::abandoned() const {
  pollfd writer{.fd = write_end_.get(), .events = POLLOUT, .revents = 0};
  return ::poll(&writer, 1, 0) > 0 && (writer.revents & POLLERR) != 0;
}

bool EventChannel::post(std::span<const std::byte> record) {
  if (write_quietly(write_end_.get(), record) == static_cast<ssize_t>(record.size())) return true;
  ++lost_;
  util::log::once("abi.channel.full", "event channel: an event was lost ({})", std::strerror(errno));
  return false;
}

std::uint32_t EventChannel::remove(std::uint64_t element) {
  std::uint32_t removed = 0;
  const auto unread = drain(write_end_.get());
  for (std::size_t at = 0; at + record_bytes_ <= unread.size(); at += record_bytes_) {
    std::uint64_t about = 0;
    std::memcpy(&about, unread.data() + at, sizeof about);
    if (about == element) {
      ++removed;
    } else {
      post({unread.data() + at, record_bytes_});
    }
  }
  return removed;
}

}  // namespace marrow::cx7::abi
