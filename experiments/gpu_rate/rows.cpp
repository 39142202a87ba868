// SPDX-License-Identifier: Apache-2.0
// See rows.h. Repetitions are long enough, some milliseconds, that starting the kernel does not show.
#include "experiments/gpu_rate/rows.h"

#include <array>

#include "marrow/gda/policy.h"
#include "util/error.h"

namespace marrow::experiments {
namespace {

using enum RateHow;

// threads, queues, blocks, batch, how, rounds, least rate
constexpr std::array kRows{
    RateRow{1, 1, 1, 1, kThread, 8192, 1.7},
    RateRow{1, 1, 1, 1, kUnordered, 8192},  // the control: what the fence costs back to back
    RateRow{1, 2, 1, 1, kRoundRobin, 8192},
    RateRow{1, 32, 1, 1, kRoundRobin, 8192},
    RateRow{1, 1, 1, 16, kThread, 2048, 4.7},
    RateRow{32, 1, 1, 1, kLock, 256},
    RateRow{256, 1, 1, 32, kThreadSlots, 64},
    RateRow{32, 1, 1, 32, kWarpSlots, 4096, 21.6},
    RateRow{256, 1, 1, 32, kWarpSlots, 1024, 30.7},
    RateRow{16, 16, 16, 1, kThread, 8192},
    RateRow{16, 16, 16, 16, kThread, 2048},
    RateRow{32, 32, 1, 16, kThread, 2048},
    RateRow{64, 64, 1, 16, kThread, 2048},
    RateRow{64, 64, 64, 16, kThread, 2048, 260},
    RateRow{32, 1, 1, 32, kWarp, 4096},
    RateRow{256, 1, 1, 32, kWarpSlotsInBlock, 1024},
    RateRow{2048, 64, 64, 32, kWarp, 2048},
    RateRow{4096, 16, 16, 32, kWarpSlots, 1024},
    RateRow{4096, 16, 16, 256, kBlock, 1024},
};

}  // namespace

const char* text_of(RateHow how) {
  constexpr std::array kTexts{"none",           "queues in turn",          "lock per WQE",   "slots per thread",
                              "slots per warp", "slots per warp in a CTA", "queue per warp", "queue per CTA",
                              "none, no fence"};
  return kTexts.at(static_cast<std::size_t>(how));
}

std::uint32_t RateRow::team() const {
  if (how == kBlock) return threads / blocks;
  return how == kWarpSlots || how == kWarpSlotsInBlock || how == kWarp ? 32 : 1;
}

std::span<const RateRow> rate_rows() {
  return kRows;
}

Variant variant_of(const RateRow& row) {
  return {"mini-gda",
          std::string(row.how == kUnordered ? gda::NoOrder::name : gda::GpuFence::name),
          {{"threads", std::int64_t{row.threads}},
           {"queues", std::int64_t{row.queues}},
           {"ctas", std::int64_t{row.blocks}},
           {"batch", std::int64_t{row.batch}},
           {"sharing", std::string(text_of(row.how))}}};
}

const RateRow& row_of(const Point& point) {
  for (const auto& row : kRows) {
    if (point.number("threads") == row.threads && point.number("queues") == row.queues &&
        point.number("ctas") == row.blocks && point.number("batch") == row.batch &&
        point.text("sharing") == text_of(row.how)) {
      return row;
    }
  }
  throw util::Error("gpu-rate has no row with these axes");
}

}  // namespace marrow::experiments
