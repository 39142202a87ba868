// SPDX-License-Identifier: Apache-2.0
// Records for the tests of this folder: one that passed, with every field filled, and one that was waived.
#pragma once

#include <array>

#include "measure/document.h"

namespace marrow::measure {

inline Metric sample_metric(std::string name, Kind kind) {
  const std::array<double, 8> values{0.5, 0.25, 0.75, 1.0, 0.5, 0.25, 0.5, 4.0};
  return {.name = std::move(name), .unit = "us", .kind = kind, .summary = summarise(values)};
}

inline Record sample_record() {
  Record record{.experiment = "single-op",
                .axes = {{"bytes", std::int64_t{8}}, {"payload", std::string("inline")}},
                .path = "mini-gda",
                .policy = "gpu-fence",
                .lane = "host",
                .nic = "cx7-sim",
                .clock = "CLOCK_MONOTONIC, 20 ns a reading",
                .verified = true};
  record.warmup = 500;
  record.engine = "auto";
  record.doorbell = "a page";
  record.registration = "by address";
  record.metrics = {sample_metric("issue", Kind::kHostLane), sample_metric("put+completion", Kind::kCx7Sim)};
  record.counts = {.operations = 8, .totals = {{"wqes", 8}, {"doorbells", 8}, {"fences", 16}, {"atomics", 0}}};
  record.expectations = {{"every operation rings once", true}};
  return record;
}

inline Record waived_record() {
  Record record{.experiment = "single-op", .path = "mini-gda", .policy = "none", .lane = "gpu", .nic = "cx7-sim"};
  record.gpu = "GPU 0";
  record.gpu_state = GpuState{.looks = 1, .slowed_by = {"sync boost"}};
  record.gpu_state->sm_mhz.add(1980);
  record.status = Status::kWaived;
  record.reason = "no GPU here; --lane host runs on CPU threads";
  return record;
}

inline Document sample_document() {
  Document document{.environments = {read_environment()}, .records = {sample_record(), waived_record()}};
  for (auto& record : document.records) record.clock = "test clock";
  document.environments[0].path = ActivePath{"a -> b", "InfiniBand", "a page", "ibv_reg_mr", "host", "test clock"};
  auto& path = *document.environments[0].path;
  path.engine = "auto";
  path.gpu_limits = "SM clock up to 1980 MHz, power cap 700 W";
  path.gid = "index 0, fe80";
  path.unknown = {{"place", "this machine does not show it"}};
  return document;
}

}  // namespace marrow::measure
