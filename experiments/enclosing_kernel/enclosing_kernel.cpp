// SPDX-License-Identifier: Apache-2.0
// The rows: two callers, two transports, how their code was built in, and whether it runs.
#include "experiments/enclosing_kernel/enclosing_kernel.h"

#include <string>
#include <string_view>

#include "util/error.h"

namespace marrow::experiments {
namespace {

struct Caller {
  const char* name;
  std::int64_t live;
  std::vector<const char*> packagings;
};

constexpr std::int64_t kBlocks = 528;
/// A NIC that is made of this GPU's threads needs room beside callers that wait for it.
constexpr std::int64_t kBlocksThatWait = 264;

std::vector<Variant> variants() {
  const Caller callers[] = {{"compute", 8, {"inlined", "separate", "bounded"}},
                            {"stream", 16, {"inlined", "separate"}}};
  std::vector<Variant> all;
  for (const auto& caller : callers) {
    const auto add = [&](std::string_view path, const char* policy, std::string_view arm) {
      const bool leaves_room = path == "mini-gda" && arm == "send+wait";
      all.push_back({std::string(path),
                     policy,
                     {{"caller", std::string(caller.name)},
                      {"live_values", caller.live},
                      {"arm", std::string(arm)},
                      {"blocks", leaves_room ? kBlocksThatWait : kBlocks}}});
    };
    for (const auto* path : {"mini-gda", "mini-proxy"}) {
      for (const auto* packaging : caller.packagings) {
        for (const auto* arm : {"dormant", "send", "send+wait"}) add(path, packaging, arm);
      }
    }
    add("none", "2-blocks-an-sm", "dormant");
  }
  return all;
}

}  // namespace

namespace enclosing {

void refuse_host_lane(Context&, const Point&, measure::Record&) {
  throw util::Error("registers, residency and useful throughput of a kernel are a GPU's: there is no host lane",
                    util::ErrorKind::kWaived, "--lane gpu");
}

}  // namespace enclosing

Experiment enclosing_kernel() {
  return {.name = "enclosing-kernel",
          .title = "Figure 9 and Table 14, the kernel around a send",
          .needs = "a GPU; the arms that send with mini-gda two endpoints: cx7-sim, or one or two mlx5 devices",
          .variants = variants(),
          .sweeps = {{.name = "messages",
                      .meaning = "sent by a block in the arms that send, spread through its work",
                      .values = {16},
                      .min = 1,
                      .max = 16}},
          .iterations = 45,
          .run = enclosing::refuse_host_lane,
          .run_on_gpu = enclosing::on_gpu()};
}

}  // namespace marrow::experiments
