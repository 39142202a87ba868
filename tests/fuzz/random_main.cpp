// SPDX-License-Identifier: Apache-2.0
// In place of libFuzzer where the compiler has none: COUNT inputs of pseudo-random bytes from the FIRST on, each made
// from its number. What aborts, or takes more than ten seconds, says its number, so that `1 NUMBER` makes it again.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kMostBytes = 1024;

std::uint64_t number_of(const char* text) {
  return std::strtoull(text, nullptr, 0);
}

std::vector<std::uint8_t> input_of(std::uint64_t number) {
  std::mt19937_64 random(number);
  std::vector<std::uint8_t> bytes(random() % kMostBytes);
  const bool sparse = (random() & 1) != 0;  // small numbers reach further than large ones
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(sparse && (random() & 3) != 0 ? random() % 8 : random());
  return bytes;
}

volatile std::uint64_t now = 0;

void tell(int signal) {
  std::fprintf(stderr, "input %llu: %s\n", static_cast<unsigned long long>(now),
               signal == SIGALRM ? "no end within 10 s" : "aborted");
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr unsigned kMostSeconds = 10;
  const std::uint64_t count = argc > 1 ? number_of(argv[1]) : 1000;
  const std::uint64_t first = argc > 2 ? number_of(argv[2]) : 0;
  std::signal(SIGABRT, tell);
  std::signal(SIGALRM, tell);
  for (std::uint64_t number = first; number < first + count; ++number) {
    now = number;
    const auto bytes = input_of(number);
    ::alarm(kMostSeconds);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%llu inputs\n", static_cast<unsigned long long>(count));
  return 0;
}
