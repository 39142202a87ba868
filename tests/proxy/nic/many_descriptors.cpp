// SPDX-License-Identifier: Apache-2.0
// Many descriptors through 32 rings and 4 workers over the software NIC, of random sizes: every payload byte right,
// each descriptor exactly once. usage: proxy_many_descriptors [COUNT [SEED]]; 10^8 is what was asked of the proxy.
//
// Each descriptor's payload is a pattern of its own, made of its ring and number. Its place at the receiver is all zero
// before; once it is complete each byte is compared, the eight behind it must still be zero, and the place is zeroed
// again, so that a late second write would be seen. Each descriptor also advances its ring's signal word: in the end
// these say how many writes were carried out, and all places are zero.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "cx7/shim/control.h"
#include "proxy/nic/two_ends.h"
#include "util/error.h"

namespace marrow::proxy::testing {
namespace {

// The lanes are CPU threads: what they stored must be there when the worker takes the descriptor.
struct Lanes : Fenced<Tuned, PreFence::kSystem> {};

constexpr std::uint32_t kRings = 32;
constexpr std::uint32_t kWorkers = 4;
constexpr std::uint32_t kDepth = 32;  // of a ring, and places at the receiver: the ring runs full
constexpr std::uint32_t kMostBytes = 1024;
constexpr std::uint32_t kPlace = kMostBytes + 64;
constexpr std::uint32_t kThreads = 2;

/// One ring's traffic.
class Stream {
 public:
  Stream(TwoEnds& ends, const Ring& ring, std::uint32_t number, std::uint64_t count, std::uint64_t seed)
      : ends_(ends), ring_(ring), lane_(ring), number_(number), count_(count), seed_(seed) {}

  /// Whether anything could be done.
  bool step() {
    const auto progress = Progress::from_word(std::atomic_ref(*ring_.done).load(std::memory_order_acquire));
    if (progress.failure != gda::Status::kOk) {
      throw util::Error(fmt::format("ring {}: {}", number_, gda::status_name(progress.failure)));
    }
    const bool some = checked_ < progress.completed;
    while (checked_ < progress.completed) check(checked_++);
    const auto before = put_;
    while (put_ < count_ && put_ - checked_ < kDepth) put(put_++);
    return some || put_ != before;
  }
  [[nodiscard]] bool is_done() const { return checked_ == count_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  /// Of descriptor `i`: splitmix64, whose k-th word is the pattern too.
  [[nodiscard]] std::uint64_t mix(std::uint64_t i, std::uint64_t k) const {
    auto x = seed_ + (i << 16 | number_ << 8 | k) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
  }
  /// 1 to 1024, each power of two as often as the others.
  [[nodiscard]] std::uint32_t size(std::uint64_t i) const {
    const auto random = mix(i, 255);
    const auto top = std::uint32_t{1} << random % 11;
    return 1 + static_cast<std::uint32_t>(random >> 32) % top;
  }
  [[nodiscard]] std::uint64_t place(std::uint64_t i) const { return (number_ * kDepth + i % kDepth) * kPlace; }

  void put(std::uint64_t i) {
    const auto bytes = size(i);
    auto* const at = ends_.a.data() + place(i);
    const auto step = mix(i, 1);
    auto word = mix(i, 0);
    for (std::uint32_t k = 0; k < bytes; k += 8, word += step) std::memcpy(at + k, &word, 8);
    const auto ticket = lane_.put_signal({.from = place(i), .to = place(i), .bytes = bytes}, number_);
    if (ticket.end != i + 1) throw util::Error(fmt::format("ring {}: descriptor {} was not taken", number_, i));
    bytes_ += bytes;
  }
  void check(std::uint64_t i) {
    const auto bytes = size(i);
    auto* const at = ends_.b.data() + place(i);
    const auto step = mix(i, 1);
    auto word = mix(i, 0);
    bool right = true;
    for (std::uint32_t k = 0; k < bytes; k += 8, word += step) {
      right = right && std::memcmp(at + k, &word, std::min(8u, bytes - k)) == 0;
    }
    constexpr std::uint64_t zero = 0;
    right = right && std::memcmp(at + bytes, &zero, 8) == 0;
    if (!right) throw util::Error(fmt::format("ring {}: the {} bytes of descriptor {} are wrong", number_, bytes, i));
    std::memset(at, 0, bytes);
  }

  TwoEnds& ends_;
  Ring ring_;
  Producer<Lanes> lane_;
  std::uint32_t number_;
  std::uint64_t count_;
  std::uint64_t seed_;
  std::uint64_t put_ = 0;
  std::uint64_t checked_ = 0;
  std::uint64_t bytes_ = 0;
};

/// A thread's share of the streams; what went wrong is its result.
std::string serve(std::vector<std::unique_ptr<Stream>>& streams, std::uint32_t thread) {
  try {
    auto alive = util::now();
    for (bool all = false; !all;) {
      all = true;
      bool some = false;
      for (std::size_t i = thread; i < streams.size(); i += kThreads) {
        some |= streams[i]->step();
        all = all && streams[i]->is_done();
      }
      const auto now = util::now();
      if (some) alive = now;
      if (!some) std::this_thread::yield();
      if (now - alive > std::chrono::seconds(30)) throw util::Error("nothing has moved for 30 seconds");
    }
    return {};
  } catch (const util::Error& error) {
    return error.what();
  }
}

std::string verify(const TwoEnds& ends, const std::vector<std::uint64_t>& counts, const WorkerCounters& total) {
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < kRings; ++i) {
    all += counts[i];
    if (ends.b.signal(i) != counts[i]) {
      return fmt::format("ring {}: {} writes were carried out for {} descriptors", i, ends.b.signal(i), counts[i]);
    }
  }
  for (std::size_t i = 0; i < ends.b.bytes; ++i) {
    if (ends.b.data()[i] != std::byte{}) return fmt::format("byte {} was written once more", i);
  }
  if (total.requests != all || total.wrs != 2 * all) {
    return fmt::format("workers took {} descriptors and posted {} work requests for {}", total.requests, total.wrs,
                       all);
  }
  return {};
}

int run(std::uint64_t count, std::uint64_t seed) {
  auto options = crowded(kWorkers, 16);
  options.pin = false;  // lanes and the engine need the cores too
  TwoEnds ends(options, kRings * kDepth * kPlace);
  Rings<Lanes> rings(kRings, kDepth);
  std::vector<std::uint64_t> counts;
  std::vector<std::unique_ptr<Stream>> streams;
  for (std::uint32_t i = 0; i < kRings; ++i) {
    counts.push_back(count / kRings + (i < count % kRings));
    streams.push_back(std::make_unique<Stream>(ends, rings.ring(i), i, counts[i], seed));
  }
  Workers<Lanes> workers(options, ends.here.table(), rings.list);
  workers.start();
  const auto start = util::now();
  std::string wrong[kThreads];
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { wrong[t] = serve(streams, t); });
  for (auto& thread : threads) thread.join();
  const auto seconds = std::chrono::duration<double>(util::now() - start).count();
  workers.stop();

  std::string problem;
  for (const auto& text : wrong) problem = problem.empty() ? text : problem;
  if (problem.empty()) problem = verify(ends, counts, workers.total());
  const auto total = workers.total();
  std::uint64_t bytes = 0;
  for (const auto& stream : streams) bytes += stream->bytes();
  fmt::print(
      "{} descriptors, {} bytes of payload, {:.1f} s, {:.0f} a second; {:.1f} requests a post, {} credit stalls\n",
      count, bytes, seconds, static_cast<double>(count) / seconds,
      static_cast<double>(total.requests) / static_cast<double>(std::max<std::uint64_t>(total.posts, 1)),
      total.credit_stalls);
  fmt::print("{}\n", problem.empty() ? "every byte right, each descriptor once" : "WRONG: " + problem);
  return problem.empty() ? 0 : 1;
}

}  // namespace
}  // namespace marrow::proxy::testing

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  if (marrow_cx7_enable() != 0) {
    fmt::print(stderr, "{}\n", marrow_cx7_error());
    return 1;
  }
  fmt::print("seed {}\n", seed);
  try {
    return marrow::proxy::testing::run(count, seed);
  } catch (const marrow::util::Error& error) {
    fmt::print(stderr, "{}\n", marrow::util::describe(error));
    return error.exit_code();
  }
}
