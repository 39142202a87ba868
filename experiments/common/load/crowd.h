// SPDX-License-Identifier: Apache-2.0
// Who shares the cores in an experiment with many threads, and what each then does while it waits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "proxy/options.h"

namespace marrow::experiments {

/// Threads of one row, beside the software NIC's.
struct Crowd {
  unsigned lanes = 0;    // probes and senders
  unsigned workers = 0;  // of both ends

  [[nodiscard]] unsigned threads() const { return lanes + workers; }
};

/// \throws util::Error, a waiver, where there are more workers than cores.
void require_cores(unsigned workers);
/// What workers do where the row has these threads: pinned and spinning where each has a core, else napping.
void suit_crowd(proxy::WorkersOptions& options, const Context& context, const Crowd& crowd);
/// Cores of this process that are not in `taken`, the last first.
[[nodiscard]] std::vector<unsigned> free_cores(const std::vector<unsigned>& taken);

/// "host: 4 lanes, 2 workers and the software NIC's thread on 2 cores"
[[nodiscard]] std::string crowd_text(const Context& context, const Crowd& crowd);

}  // namespace marrow::experiments
