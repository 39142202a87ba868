// SPDX-License-Identifier: Apache-2.0
// Facts: rename(2) replaces a file in one step, and fsync(2) tells of a write that did not reach the disk [abi].
#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/terminal.h"
#include "util/error.h"
#include "util/fd.h"

namespace marrow::cli {
namespace {

constexpr mode_t kMode = 0666;

const char* hint_of(int problem) {
  if (problem == ENOENT || problem == ENOTDIR) return "a folder that is there";
  if (problem == ENOSPC || problem == EDQUOT || problem == EFBIG)
    return "the same again with room on that disk, or another file";
  return "another file";
}

util::Error cannot_write(const std::string& file, int problem, util::ErrorKind kind) {
  const auto sentence = util::system_error("cannot write " + file, problem);
  return util::Error(sentence.what(), kind, hint_of(problem));
}

/// The file behind links; of one that is not there, its own name.
std::string target_of(const std::string& file) {
  std::error_code problem;
  const auto target = std::filesystem::weakly_canonical(file, problem);
  return problem ? file : target.string();
}

std::string beside(const std::string& target) {
  return fmt::format("{}.new-{}", target, ::getpid());
}

bool is_special(const std::string& target) {
  struct stat status {};
  return ::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

/// 0, or the errno.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// The old file's permissions go to the new one.
mode_t mode_of(const std::string& target) {
  struct stat status {};
  return ::stat(target.c_str(), &status) == 0 ? status.st_mode & 07777U : kMode;
}

int replace(const std::string& target, std::string_view text) {
  const auto name = beside(target);
  util::UniqueFd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_of(target)));
  if (!fd) return errno;
  int problem = write_all(fd.get(), text);
  if (problem == 0 && ::fsync(fd.get()) != 0) problem = errno;
  if (problem == 0 && ::rename(name.c_str(), target.c_str()) != 0) problem = errno;
  if (problem != 0) ::unlink(name.c_str());
  return problem;
}

int write_special(const std::string& target, std::string_view text) {
  const util::UniqueFd fd(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
  return fd ? write_all(fd.get(), text) : errno;
}

}  // namespace

void refuse_unwritable(const std::string& file) {
  if (file.empty() || file == kStdout) return;
  const auto target = target_of(file);
  std::error_code unseen;  // what cannot be looked at cannot be opened either, and open(2) says why
  if (std::filesystem::is_directory(target, unseen)) throw cannot_write(file, EISDIR, util::ErrorKind::kUsage);
  if (is_special(target)) {
    if (::access(target.c_str(), W_OK) != 0) throw cannot_write(file, errno, util::ErrorKind::kUsage);
    return;
  }
  const bool there = std::filesystem::exists(target, unseen);
  if (there && ::access(target.c_str(), W_OK) != 0) throw cannot_write(file, errno, util::ErrorKind::kUsage);
  const auto name = beside(target);
  const util::UniqueFd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode));
  if (!fd) throw cannot_write(file, errno, util::ErrorKind::kUsage);
  ::unlink(name.c_str());
}

void write_silently(const std::string& file, std::string_view text) {
  const auto target = target_of(file);
  const int problem = is_special(target) ? write_special(target, text) : replace(target, text);
  if (problem != 0) throw cannot_write(file, problem, util::ErrorKind::kFailed);
}

void write_output(const std::string& file, std::string_view text) {
  if (file == kStdout) return print(text);
  write_silently(file, text);
  std::fprintf(stderr, "wrote %s\n", file.c_str());
}

}  // namespace marrow::cli
