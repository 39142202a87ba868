// SPDX-License-Identifier: Apache-2.0
// The limit is held while reading too: a file may grow, and some (/proc) tell no size.
#include "util/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "util/error.h"
#include "util/fd.h"

namespace marrow::util {

std::string read_file(const std::string& file, std::size_t limit, const std::string& hint) {
  const auto refuse = [&](const std::string& sentence) { throw Error(sentence, ErrorKind::kUsage, hint); };
  const auto refuse_by_errno = [&] { refuse(fmt::format("cannot read {}: {}", file, std::strerror(errno))); };
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // opening a FIFO must not wait
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) refuse_by_errno();
  if (S_ISDIR(info.st_mode)) refuse(fmt::format("{} is a folder", file));
  if (!S_ISREG(info.st_mode)) refuse(fmt::format("{} is not a regular file", file));
  std::string text;
  std::array<char, 1 << 16> part{};
  bool too_large = static_cast<std::size_t>(info.st_size) > limit;
  while (!too_large) {
    const auto n = ::read(fd.get(), part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse_by_errno();
    if (n == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(n));
    too_large = text.size() > limit;
  }
  throw Error(fmt::format("{} is larger than {} MiB", file, limit / kMiB), ErrorKind::kUsage, hint);
}

}  // namespace marrow::util
