// SPDX-License-Identifier: Apache-2.0
// fork and exec into two temporary files; the program gets a process group of its own, as a shell gives it one.
#include "cli/spawn.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <thread>

namespace marrow::cli {
namespace {

std::string printed(std::FILE* file) {
  std::string text;
  std::array<char, 4096> bytes{};
  std::rewind(file);
  for (std::size_t n = 0; (n = std::fread(bytes.data(), 1, bytes.size(), file)) > 0;) text.append(bytes.data(), n);
  std::fclose(file);
  return text;
}

[[noreturn]] void become(const std::vector<std::string>& words, int out, int err) {
  ::setpgid(0, 0);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  std::_Exit(127);
}

}  // namespace

Ended spawn(const std::vector<std::string>& words, std::optional<std::chrono::milliseconds> interrupt_after) {
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  const pid_t child = ::fork();
  if (child == 0) become(words, ::fileno(out), ::fileno(err));
  ::setpgid(child, child);
  if (interrupt_after) {
    std::this_thread::sleep_for(*interrupt_after);
    ::kill(-child, SIGINT);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  Ended ended{.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
  ended.out = printed(out);
  ended.err = printed(err);
  return ended;
}

}  // namespace marrow::cli
