// SPDX-License-Identifier: Apache-2.0
// The two endpoints of an experiment, where things lie in their buffers, and how results get into a record.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "experiments/common/poster.h"
#include "experiments/common/round_trip.h"
#include "experiments/common/stamped_payload.h"
#include "experiments/experiment.h"
#include "measure/samples.h"
#include "verbs/endpoint.h"

namespace marrow::experiments {

inline constexpr std::uint32_t kSmallBytes = 8;  // the paper's small write

/// Offsets in each end's registered buffer; no two share a cache line.
inline constexpr std::size_t kSourceAt = 0;
inline constexpr std::size_t kDestinationAt = 16384;
inline constexpr std::size_t kOutgoingAt = 32768;
inline constexpr std::size_t kIncomingAt = 33024;

/// Where a bench's memory comes from; without a source it is host memory.
struct BenchMemory {
  verbs::MemorySource payload = {};
  verbs::QueueMemory queues = {};
  std::size_t payload_bytes = verbs::Memory::kAlign;
};

/// For host lanes: ordinary memory, or memory that a GPU reaches when the software NIC's engine is to be one.
[[nodiscard]] BenchMemory memory_of_host_lanes(const Context& context);

/// Two connected ends of one process with the routes that the experiments use.
template <class Queue>
class Bench {
 public:
  Bench(const Context& context, const typename Queue::Options& options)
      : Bench(context, options, memory_of_host_lanes(context)) {}
  Bench(const Context& context, typename Queue::Options options, const BenchMemory& memory)
      : pair_(make(context, std::move(options), memory)) {}

  [[nodiscard]] auto& a() const { return *pair_.a; }
  [[nodiscard]] auto& b() const { return *pair_.b; }

  /// Puts of `bytes` from end a into end b.
  [[nodiscard]] Route put_route(std::uint32_t bytes) const {
    return {.from = a().local() + kSourceAt, .to = b().remote() + kDestinationAt, .bytes = bytes};
  }
  /// Each loop's operations have stamps of their own, so that a put of an earlier loop is never taken for a new one.
  [[nodiscard]] std::uint64_t first_of_next_loop() {
    constexpr std::uint64_t kMostOperations = std::uint64_t{1} << 32U;
    return loops_++ * kMostOperations;
  }
  [[nodiscard]] StampedPayload payload(std::uint32_t bytes) {
    return {{a().data() + kSourceAt, bytes}, {destination(), bytes}, first_of_next_loop()};
  }
  /// Where the puts arrive.
  [[nodiscard]] std::byte* destination() const { return b().data() + kDestinationAt; }

  /// The 8-byte words of a round trip.
  [[nodiscard]] Route request_route() const { return {a().local() + kOutgoingAt, b().remote() + kIncomingAt, 8}; }
  [[nodiscard]] Route reply_route() const { return {b().local() + kOutgoingAt, a().remote() + kIncomingAt, 8}; }
  [[nodiscard]] Mailbox near_box() const { return {a().data() + kOutgoingAt, a().data() + kIncomingAt}; }
  [[nodiscard]] Mailbox far_box() const { return {b().data() + kOutgoingAt, b().data() + kIncomingAt}; }

 private:
  static verbs::PairOf<Queue> make(const Context& context, typename Queue::Options options, const BenchMemory& memory) {
    if constexpr (requires { options.memory; }) options.memory = memory.queues;
    return verbs::pair_of_endpoints<Queue>({.devices = {context.devices.at(0), context.devices.at(1)},
                                            .buffer_bytes = memory.payload_bytes,
                                            .payload = memory.payload},
                                           options);
  }

  verbs::PairOf<Queue> pair_;
  std::uint64_t loops_ = 0;
};

/// The parts of the active path that do not depend on the kind of queue.
[[nodiscard]] measure::ActivePath active_path(const Context& context, const verbs::Context& near,
                                              const verbs::Context& far);
/// "payload in memory of GPU 0 by address; SQ, CQ, dbrec in memory of GPU 0 by address"
[[nodiscard]] std::string describe_registration(const Bench<verbs::DevxQp>& bench);
/// Reports the path of a bench over our own queues, with `lanes` threads that post or poll.
void report_path(const Context& context, const Bench<verbs::DevxQp>& bench, unsigned lanes);
void report_path(const Context& context, const Bench<verbs::VerbsQp>& bench, unsigned lanes);

/// Adds a time metric in microseconds from samples in nanoseconds.
/// \throws util::Error when there is no sample, or some did not fit.
void add_time(measure::Record& record, const char* name, measure::Kind kind, const measure::Samples& samples_ns);
void add_time(measure::Record& record, const char* name, measure::Kind kind, std::span<const double> samples_ns);
/// Adds "message rate" from the times of bursts of `messages` each. None where the run was stopped before the first.
void add_rate(measure::Record& record, measure::Kind kind, std::uint32_t messages, const measure::Samples& times_ns);

}  // namespace marrow::experiments
