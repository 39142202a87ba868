// SPDX-License-Identifier: Apache-2.0
// Words for the header, and the one way from samples to a metric.
#include "experiments/common/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/device.h"
#include "util/error.h"
#ifdef MARROW_HAS_CUDA
#include "gpu/memory.h"
#endif

namespace marrow::experiments {
namespace {

std::string mapping_name(gda::DoorbellMapping mapping) {
  switch (mapping) {
    case gda::DoorbellMapping::kUncached:
      return "UAR register, uncached mapping";
    case gda::DoorbellMapping::kWriteCombining:
      return "UAR register, write-combining mapping";
    case gda::DoorbellMapping::kOrdinaryMemory:
      return "ordinary memory that the NIC watches";
    case gda::DoorbellMapping::kForwarded:
      return "a word that a host thread forwards";
  }
  return "unknown";
}

std::string gid_text(const verbs::Port& port) {
  std::string text = fmt::format("index {}, ", port.gid_index);
  for (std::size_t i = 0; i < port.gid.size(); ++i)
    text += fmt::format("{}{:02x}", i > 0 && i % 2 == 0 ? ":" : "", port.gid[i]);
  return text;
}

/// The software NIC works on a thread of this process, so it competes with the lanes for cores.
std::string lane_text(const Context& context, unsigned lanes) {
  const bool software = context.nic_kind == measure::Kind::kCx7Sim;
  const unsigned cores = usable_cores();
  auto text = fmt::format("host: {} CPU thread{}{} on {} core{}", lanes, lanes == 1 ? "" : "s",
                          software ? " and the software NIC's" : "", cores, cores == 1 ? "" : "s");
  if (is_crowded(context, lanes))
    text += "; more threads than cores, so waits give the core away and medians and tails may show the scheduler";
  return text;
}

}  // namespace

BenchMemory memory_of_host_lanes(const Context& context) {
  if (!context.engine_gpu) return {};
#ifdef MARROW_HAS_CUDA
  const auto pinned = gpu::pinned_source(*context.engine_gpu);
  return {.payload = pinned, .queues = {.sq = pinned, .cq = pinned, .dbrec = pinned}};
#else
  throw util::Error(gpu::kNotBuilt, util::ErrorKind::kWaived, "--engine cpu");
#endif
}

measure::ActivePath active_path(const Context& context, const verbs::Context& near, const verbs::Context& far) {
  measure::ActivePath path;
  path.nic = fmt::format("{} -> {}{}", near.name(), far.name(),
                         context.nic_kind == measure::Kind::kCx7Sim ? " (cx7-sim, a software NIC)" : "");
  const auto mtu = std::min(near.port().mtu, far.port().mtu);
  path.link_layer =
      fmt::format("{}, MTU {}", near.port().link == verbs::LinkLayer::kInfiniBand ? "InfiniBand" : "RoCE v2",
                  verbs::mtu_bytes(mtu));
  path.nic_firmware = near.firmware();
  path.gid = gid_text(near.port());
  path.nic_pci = context.nic_kind == measure::Kind::kCx7Sim ? "" : near.pci_bus_id();
  if (context.clock != nullptr) path.clock = context.clock->name();
  if (context.nic_kind == measure::Kind::kCx7Sim) path.engine = context.engine;
  return path;
}

std::string describe_registration(const Bench<verbs::DevxQp>& bench) {
  const auto& end = bench.b();
  return fmt::format("payload in {} by {} (ibv_reg_mr), {} (DEVX umem)", end.buffer.kind(),
                     verbs::name_of(end.mr.registration()), end.queue.describe_memory());
}

void report_path(const Context& context, const Bench<verbs::DevxQp>& bench, unsigned lanes) {
  if (!context.report_path) return;
  auto path = active_path(context, bench.a().context, bench.b().context);
  path.doorbell = mapping_name(bench.a().queue.handle().doorbell_mapping);
  if (context.nic_kind == measure::Kind::kCx7Sim)
    path.doorbell += ", here ordinary memory that the software NIC watches";
  path.registration = describe_registration(bench);
  path.lane = lane_text(context, lanes);
  context.report_path(path);
}

void report_path(const Context& context, const Bench<verbs::VerbsQp>& bench, unsigned lanes) {
  if (!context.report_path) return;
  auto path = active_path(context, bench.a().context, bench.b().context);
  path.doorbell = "libmlx5's own";
  path.registration = "payload by ibv_reg_mr, queues by libmlx5, all in host memory";
  path.lane = lane_text(context, lanes);
  context.report_path(path);
}

void add_time(measure::Record& record, const char* name, measure::Kind kind, const measure::Samples& samples_ns) {
  if (samples_ns.lost() > 0) throw util::Error(fmt::format("{}: {} samples did not fit", name, samples_ns.lost()));
  add_time(record, name, kind, samples_ns.values());
}

void add_time(measure::Record& record, const char* name, measure::Kind kind, std::span<const double> samples_ns) {
  constexpr double kMicrosecondsPerNs = 1e-3;
  record.metrics.push_back({name, "us", kind, measure::summarise(samples_ns).scaled(kMicrosecondsPerNs), {}});
}

void add_rate(measure::Record& record, measure::Kind kind, std::uint32_t messages, const measure::Samples& times_ns) {
  constexpr double kMillionsASecond = 1e3;  // of one a nanosecond
  if (times_ns.size() == 0) return;
  measure::Samples rates(times_ns.size());
  for (const auto ns : times_ns.values()) rates.add(messages / ns * kMillionsASecond);
  record.metrics.push_back({"message rate", "M msg/s", kind, measure::summarise(rates.values()), {}});
}

}  // namespace marrow::experiments
