// SPDX-License-Identifier: Apache-2.0
// Every time is compared with that of the launch beside it, so that a drift of the GPU's clock falls on both.
#include "experiments/enclosing_kernel/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "measure/samples.h"
#include "util/error.h"

namespace marrow::experiments::enclosing {
namespace {

constexpr std::uint32_t kWarmups = 2;

std::vector<CallerKernel> all_kernels() {
  auto all = compute_kernels();
  for (auto* more : {&stream_kernels, &live_value_kernels}) {
    for (auto& kernel : more()) all.push_back(std::move(kernel));
  }
  return all;
}

/// Bits of the rounds before which a block sends: evenly spread.
std::uint32_t sending_rounds(std::uint32_t messages) {
  std::uint32_t rounds = 0;
  for (std::uint32_t m = 0; m < messages; ++m) rounds |= 1U << (m * kRounds / messages);
  return rounds;
}

/// One kernel of a comparison with the job that it is launched with.
struct Side {
  const CallerKernel* kernel = nullptr;
  Job job;
  std::size_t shared_bytes = 0;
  measure::Samples times;

  Side(const CallerKernel& k, const Job& j, std::size_t capacity) : kernel(&k), job(j), times(capacity) {}
};

class Comparer {
 public:
  Comparer(Context& context, const Comparison& comparison, measure::Record& record)
      : context_(context),
        comparison_(comparison),
        record_(record),
        // A warp that waits for a NIC makes the kernel's time the NIC's as well.
        kind_(comparison.arm == Arm::kSendAndWait && comparison.path == "mini-gda" ? context.nic_kind
                                                                                   : measure::Kind::kGpu),
        bench_(context, comparison.shape) {
    const auto& shape = comparison.shape;
    const std::string no_code = "none";  // named, for g++ 13 suspects that the kernel dies with a temporary
    const std::string no_packaging;
    const auto& none = find_kernel(shape, no_code, no_packaging);
    sides_.emplace_back(none, bench_.job(), context.iterations);
    const bool control = comparison.path == "none";
    const auto& with = control ? none : find_kernel(shape, comparison.path, comparison.packaging);
    if (!control && comparison.arm != Arm::kDormant) {
      traffic_ = comparison.path == "mini-gda" ? gda_traffic(context, bench_) : proxy_traffic(context, bench_);
    }
    if (comparison.arm == Arm::kSendAndWait) sides_.emplace_back(with, job_of(Arm::kSend), context.iterations);
    sides_.emplace_back(with, job_of(comparison.arm), context.iterations);
    sides_.back().shared_bytes = comparison.shared_bytes;
    if (comparison.shared_bytes > 0) allow_shared_bytes(with.kernel, comparison.shared_bytes);
    report_path();
  }

  void run() {
    tell_facts();
    for (std::uint32_t i = 0; i < kWarmups; ++i) verify_all();
    for (std::uint32_t i = 0; i < context_.iterations && !context_.stopping(); ++i) {
      // Forth and back, so that no side always runs behind the same one.
      for (std::size_t s = 0; s < sides_.size(); ++s) time(sides_[i % 2 == 0 ? s : sides_.size() - 1 - s]);
    }
    if (!context_.stopping()) verify_all();
    record_.verified = true;
    tell_times();
  }

 private:
  [[nodiscard]] Job job_of(Arm arm) const {
    auto job = bench_.job();
    if (traffic_) traffic_->join(job);
    if (arm != Arm::kDormant) job.sending_rounds = sending_rounds(comparison_.messages);
    job.wait = arm == Arm::kSendAndWait ? 1 : 0;
    return job;
  }

  double launch(Side& side) {
    side.job.first_message = next_message_;
    next_message_ += kRounds;
    if (traffic_) traffic_->expect(side.job);
    const auto ns = bench_.launch(side.kernel->kernel, side.job, side.shared_bytes);
    if (const auto failure = bench_.failure(); !failure.empty()) throw util::Error("a message failed: " + failure);
    if (traffic_) traffic_->settle(side.job);
    record_.counts.operations += 1;
    return ns;
  }
  void time(Side& side) { side.times.add(launch(side)); }

  /// All sides must compute the same, bit for bit.
  void verify_all() {
    std::vector<float> expected;
    for (auto& side : sides_) {
      (void)launch(side);
      auto result = bench_.result();
      if (expected.empty())
        expected = std::move(result);
      else if (!std::equal(expected.begin(), expected.end(), result.begin()))
        throw util::Error(fmt::format("{} computes something else than {}", side.kernel->kernel.name,
                                      sides_.front().kernel->kernel.name));
    }
  }

  void add(const char* name, const char* unit, double value) {
    const std::array<double, 1> one{value};
    record_.metrics.push_back({name, unit, measure::Kind::kGpu, measure::summarise(one), {}});
  }

  void tell_facts() {
    const auto facts = [&](const Side& side) {
      return gpu::facts_of(bench_.device(), side.kernel->kernel, bench_.grid(side.shared_bytes));
    };
    const auto none = facts(sides_.front());
    const auto with = facts(sides_.back());
    add("registers, code absent", "registers", none.registers);
    add("registers, code dormant", "registers", with.registers);
    add("local memory a thread", "B", static_cast<double>(with.local_bytes));
    add("blocks an SM, code absent", "blocks", none.blocks_per_sm);
    add("blocks an SM", "blocks", with.blocks_per_sm);
    if (comparison_.packaging == "bounded") expect_no_cost(none, with);
  }

  void expect_no_cost(const gpu::KernelFacts& none, const gpu::KernelFacts& with) {
    record_.expectations.push_back({fmt::format("dormant code costs no residency: {} blocks an SM without, {} with",
                                                none.blocks_per_sm, with.blocks_per_sm),
                                    with.blocks_per_sm >= none.blocks_per_sm});
    if (comparison_.shape.caller != "compute") return;
    record_.expectations.push_back(
        {fmt::format("dormant code adds no register: {} without, {} with", none.registers, with.registers),
         with.registers <= none.registers});
  }

  /// Of each pair: the part of the useful throughput that the second side loses.
  void add_loss(const char* name, const Side& before, const Side& after) {
    const auto a = before.times.values();
    const auto b = after.times.values();
    measure::Samples loss(a.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) loss.add(100.0 * (1.0 - a[i] / b[i]));
    record_.metrics.push_back({name, "%", kind_, measure::summarise(loss.values()), {}});
  }

  void tell_times() {
    const auto time_of = [&](const char* name, const Side& side) {
      record_.metrics.push_back({name, "us", kind_, measure::summarise(side.times.values()).scaled(1e-3), {}});
    };
    time_of("kernel, code absent", sides_.front());
    time_of("kernel", sides_.back());
    add_loss("throughput loss", sides_.front(), sides_.back());
    if (comparison_.arm == Arm::kSendAndWait) add_loss("waiting loss", sides_[1], sides_.back());
  }

  void report_path() const {
    if (!context_.report_path) return;
    measure::ActivePath path;
    if (traffic_) {
      path = traffic_->path();
    } else {
      path.nic = path.link_layer = path.doorbell = path.registration = "none: nothing is sent";
    }
    path.lane = fmt::format("gpu: {} blocks of {} threads", comparison_.shape.blocks, kThreads);
    path.clock = bench_.device().describe_clocks();
    path.gpu = bench_.device().describe();
    path.engine = context_.engine;
    context_.report_path(path);
  }

  Context& context_;
  const Comparison& comparison_;
  measure::Record& record_;
  measure::Kind kind_;
  CallerBench bench_;
  std::unique_ptr<Traffic> traffic_;
  std::vector<Side> sides_;  // without code; [sending without waiting;] what is asked about
  std::uint32_t next_message_ = 1;
};

}  // namespace

Arm arm_named(const std::string& name) {
  if (name == "dormant") return Arm::kDormant;
  if (name == "send") return Arm::kSend;
  if (name == "send+wait") return Arm::kSendAndWait;
  throw util::Error("no arm is called '" + name + "'");
}

const CallerKernel& find_kernel(const Shape& shape, const std::string& path, const std::string& packaging) {
  static const auto all = all_kernels();
  const auto at = std::find_if(all.begin(), all.end(), [&](const CallerKernel& k) {
    return k.caller == shape.caller && k.live == shape.live && k.path == path && k.packaging == packaging;
  });
  if (at != all.end()) return *at;
  throw util::Error(
      fmt::format("there is no {} caller with {} live values and {} {}", shape.caller, shape.live, path, packaging));
}

void measure_loss(Context& context, const Comparison& comparison, measure::Record& record) {
  Comparer(context, comparison, record).run();
}

}  // namespace marrow::experiments::enclosing
