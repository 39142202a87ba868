// SPDX-License-Identifier: Apache-2.0
// Which core each worker gets. A proxy's latency is that of its core and of the way to the NIC, so both are chosen, and
// said. Facts: which cores are near a device [abi: local_cpus and numa_node in sysfs, read by hwloc].
#pragma once

#include <vector>

#include "proxy/report.h"
#include "proxy/routes.h"

namespace marrow::proxy {

/// A place for each worker: cores before their hyperthreads, from the last one down, as the first ones serve
/// interrupts. Only cores that the calling thread may use. \throws util::Error: a node or core that does not exist or
/// may not be used, more workers than cores.
[[nodiscard]] std::vector<WorkerPlace> choose_places(const WorkersOptions& options, ibv_context* device);

/// 0, or the error number.
[[nodiscard]] int pin_this_thread(unsigned core);

}  // namespace marrow::proxy
